"""What results mean, in tables and sentences.

    compare          bench_compare: what changed between two sets of launches
    vary             which of the settings that a suite varied is best
    output           writes tables as the benchmarks do

    findings         what results say: a rule for each question
    nonblocking      rules: whether going non-blocking saves time, MPI_Test and persistent requests
    sentences        the words of findings
    report           report.sh, report_text.sh: what goes where on the page
    page             a page as a tree of parts; as HTML, Markdown or plain text

    program_cost     cost.sh: what communication costs a program
    program_changes  changes to the program that would save time: a rule each
    machine_costs    what calls cost on a machine, interpolated between results
"""
