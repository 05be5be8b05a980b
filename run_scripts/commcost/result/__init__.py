"""Results: the one reader, the one model, the statistics over launches.

    result_reader     reads one result file
    result_files      results in folders
    foreign_outputs   outputs of OSU, IMB and SMB, as results
    launches          values of each row over launches, of one or several sides
    tables            rows by benchmark, as pictures and reports show them
    benchmarks        titles and headings of each benchmark
    row_labels        labels of rows: what tells them apart
    result_metadata   which metadata may differ between results
    rank_test         statistics over launches
    intervals         numbers with an interval
    summary_table     summarize.sh: summary.tsv, one row a quantity
    result_writer     writes tables as the benchmarks do
    rank_hosts        which ranks are on which host
"""
