"""What reads results: comparison, summary, pictures, report, and the suite that makes them.

    results     reads one result file; finds results in folders
    foreign     what OSU, IMB and SMB print, as results
    launches    what each launch found for each row, of one or several sides
    tables      the rows by benchmark, as pictures and reports show them
    benchmarks  what is to know of each benchmark: its keys and quantities, how to read it, pictures
    settings    which metadata may differ in a comparison
    rank_test   the statistics over launches
    evidence    what is sure of values, and what isn't

    compare     bench_compare: what changed between two sets of launches
    summarize   summary.tsv: one row a quantity over all launches
    vary        which of the settings that a suite varied is best
    panels      what a panel of a picture shows
    plot        plot.sh: the pictures, drawn by gnuplot
    findings    what results say in sentences
    page        a report as a tree of parts; as HTML or Markdown
    report      report.sh, report_text.sh: what goes where on the page

    cost        cost.sh: what communication costs a program, and what would pay
    savings     its rules: what a program could save
    monitored   a monitor's report of a program
    placing     which ranks are on which host, and so the nodes of a communicator
    own_costs   what calls cost by themselves, interpolated between results
    spans       numbers with an interval, and what is calculated from them

    suite       run_suite.sh: the options, and the suite from its plan to its end
    plan        what a suite runs: suite.list, options, settings, commands
    launchers   how jobs are started: a class a launcher
    machine     how many ranks a machine has room for
    running     a launch as a process, and its end
    folder      a suite's folder: what it takes to run it again, records, launches put together

    output      writes tables: tab-separated, or aligned for reading
    words       numbers, sizes and lists as people read them
    command     command lines, and errors of one line

Python 3.6 and its standard library are all that is needed.
"""

__version__ = "0.1.0"  # of commcost; CMakeLists.txt reads it here
