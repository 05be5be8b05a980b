# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons, by tests over launches.

    bench_compare     bench_compare: its options and exit status
    change_table      its output as a table
    change_formats    its output for CI
    row_changes       changes of rows between two sides
    side_differences  differences of metadata between two sides
    find_why          bench_compare --find-why: its options and its answer
    change_search     the search for the settings that cause a change
    side_settings     settings of two sides that a launch can have, and the recorded command
    why_launches      launches with these settings
    best_setting      the best of the settings that a suite varied
"""
