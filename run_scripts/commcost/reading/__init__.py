"""What is in results.

    results         reads one result file; finds results in folders
    foreign         what OSU, IMB and SMB print, as results
    launches        what each launch found for each row, of one or several sides
    tables          the rows by benchmark, as pictures and reports show them
    benchmarks      what is to know of each benchmark: its keys and quantities, how to read it
    metadata        which metadata may differ in a comparison
    rank_test       the statistics over launches
    intervals       numbers with an interval: what is sure of them, and calculations
    monitor_report  a monitor's report of a program
    placing         which ranks are on which host, and so the nodes of a communicator
    summarize       summary.tsv: one row a quantity over all launches
"""
