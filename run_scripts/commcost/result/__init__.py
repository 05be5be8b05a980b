# SPDX-License-Identifier: BSD-3-Clause
"""Results: reader, model, and statistics over launches.

    result_reader     reads one result file
    result_files      results in folders
    json_text         results as JSON
    call_sites        source lines of the call sites in a monitor's report
    foreign_outputs   outputs of OSU, IMB and SMB, as results
    launches          values of each row over launches, for comparisons and the summary
    tables            rows by benchmark, for pictures, reports and costs
    benchmarks        titles and headings of each benchmark
    checkup_facts     facts and measurements of the check-up
    row_labels        labels of rows
    result_metadata   metadata that may differ between results
    rank_test         statistics over launches
    intervals         numbers with an interval
    summary_table     summary.tsv, one row per quantity
    summarize         summarize.sh: the summary in several formats
    metric_formats    values for services that record them over time
    result_writer     writes tables as the benchmarks do
    rank_hosts        the ranks of each host
"""
