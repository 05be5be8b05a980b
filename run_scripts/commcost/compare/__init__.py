# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons, by tests over launches.

    bench_compare     bench_compare: its options and exit status
    change_table      its output as a table
    change_formats    its output for CI
    row_changes       changes of rows between two sides
    side_differences  differences of metadata between two sides
    best_setting      the best of the settings that a suite varied
"""
