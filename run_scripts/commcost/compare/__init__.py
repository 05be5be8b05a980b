"""Comparisons, by tests over launches.

    bench_compare     bench_compare: changes between two sides
    best_setting      the best of the settings that a suite varied
"""
