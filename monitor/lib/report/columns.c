#include "monitor/lib/report/columns.h"

#include "monitor/lib/mpirtmon.h"

static const struct bc_column columns[] = {
    BC_COLUMN("call", BC_KEY, 36, monitor_overhead_result, call),
    BC_COLUMN("mode", BC_KEY, 4, monitor_overhead_result, mode),
    BC_COLUMN("direct_ns", BC_INFO, 2, monitor_overhead_result, direct_ns),
    BC_COLUMN("monitored_ns", BC_INFO, 2, monitor_overhead_result, monitored_ns),
    BC_COLUMN("added_ns", BC_LESS, 2, monitor_overhead_result, added.value),
    BC_COLUMN("added_lo_ns", BC_INFO, 2, monitor_overhead_result, added.interval.lo),
    BC_COLUMN("added_hi_ns", BC_INFO, 2, monitor_overhead_result, added.interval.hi),
    BC_COLUMN("repetitions", BC_INFO, 0, monitor_overhead_result, repetitions),
    BC_OUTCOME_COLUMNS(monitor_overhead_result, outcome),
};

const struct bc_table monitor_overhead_table = {
    .columns = columns,
    .count = sizeof columns / sizeof *columns,
    .main = "call,mode,added_ns,added_lo_ns,added_hi_ns,status"};

#define REPORT_COLUMNS(COLUMN)                                                                     \
    COLUMN(kind, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(comm, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(operation, BC_KEY, 0, KEPT)                                                             \
    COLUMN(ranks, BC_KEY, 0, KEPT)                                                                 \
    COLUMN(calls, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(completed, BC_INFO, 0, SUMMED)                                                          \
    COLUMN(timeouts, BC_LESS, 0, SUMMED)                                                           \
    COLUMN(total_s, BC_LESS, 9, SUMMED)                                                            \
    COLUMN(mean_us, BC_INFO, 3, KEPT)                                                              \
    COLUMN(max_us, BC_INFO, 3, GREATEST_OF_RANK)                                                   \
    COLUMN(max_rank, BC_INFO, 0, KEPT)                                                             \
    COLUMN(bytes, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(small, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(large, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(small_per_s, BC_INFO, 3, SUMMED)                                                        \
    COLUMN(large_per_s, BC_INFO, 3, SUMMED)                                                        \
    COLUMN(small_bytes, BC_INFO, 0, SUMMED)                                                        \
    COLUMN(large_bytes, BC_INFO, 0, SUMMED)                                                        \
    COLUMN(members, BC_KEY, 0, KEPT)                                                               \
    COLUMN(rank, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(slowest_s, BC_INFO, 9, GREATEST_OF_RANK)                                                \
    COLUMN(slowest_rank, BC_INFO, 0, KEPT)                                                         \
    COLUMN(in_calls_s, BC_LESS, 9, SUMMED)                                                         \
    COLUMN(computed_s, BC_INFO, 9, SUMMED)                                                         \
    COLUMN(size_bytes, BC_KEY, 0, KEPT)                                                            \
    COLUMN(waited_s, BC_LESS, 9, SUMMED)                                                           \
    COLUMN(waited_lo_s, BC_INFO, 9, SUMMED)                                                        \
    COLUMN(waited_hi_s, BC_INFO, 9, SUMMED)                                                        \
    COLUMN(last_calls, BC_INFO, 0, GREATEST_OF_RANK)                                               \
    COLUMN(last_rank, BC_INFO, 0, KEPT)                                                            \
    COLUMN(callers, BC_INFO, 0, SUMMED)                                                            \
    COLUMN(computed_after_s, BC_INFO, 9, SUMMED)                                                   \
    COLUMN(joinable, BC_INFO, 0, SUMMED)                                                           \
    COLUMN(neighbours, BC_INFO, 0, GREATEST)                                                       \
    COLUMN(least_waited_s, BC_INFO, 9, LEAST)                                                      \
    COLUMN(in_waits_s, BC_INFO, 9, SUMMED)                                                         \
    COLUMN(waited_files_s, BC_INFO, 9, SUMMED)

#define AS_COLUMN(name, role, decimals, merge)                                                     \
    BC_COLUMN(#name, role, decimals, MPIX_Monitor_row, name),
#define AS_MERGE(name, role, decimals, merge) merge,
static const struct bc_column report_columns[] = {REPORT_COLUMNS(AS_COLUMN)};
const enum monitor_merge monitor_report_merges[] = {REPORT_COLUMNS(AS_MERGE)};

const struct bc_table monitor_report_table = {
    .columns = report_columns,
    .count = sizeof report_columns / sizeof *report_columns,
};
