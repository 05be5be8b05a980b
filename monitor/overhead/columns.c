/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/overhead/columns.h"

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
