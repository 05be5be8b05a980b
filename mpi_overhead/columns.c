/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_overhead/mpi_overhead.h"

const struct bc_column overhead_memory_column =
    BC_COLUMN("memory", BC_RUN_KEY, 0, overhead_result, memory);
const struct bc_column overhead_buffers_column =
    BC_COLUMN("buffers", BC_RUN_KEY, 0, overhead_result, buffers);

static const struct bc_column columns[] = {
    BC_COLUMN("direction", BC_RUN_KEY, 0, overhead_result, direction),
    BC_COLUMN("pair", BC_RUN_KEY, 0, overhead_result, pair),
    BC_COLUMN("msgsize", BC_KEY, 0, overhead_result, msgsize),
    BC_COLUMN("iterations", BC_INFO, 0, overhead_result, iterations),
    BC_COLUMN_AS(BC_CELL_US, "iter_t", BC_INFO, 3, overhead_result, iter_ns),
    BC_COLUMN_AS(BC_CELL_US, "work_t", BC_INFO, 3, overhead_result, work_ns),
    BC_COLUMN_AS(BC_CELL_US, "overhead", BC_LESS, 3, overhead_result, overhead_ns.value),
    BC_COLUMN_AS(BC_CELL_US, "base_t", BC_INFO, 3, overhead_result, base_ns),
    BC_COLUMN("avail(%)", BC_INFO, 1, overhead_result, available_pct.value),
    BC_COLUMN_AS(BC_CELL_US, "overhead_lo_us", BC_INFO, 3, overhead_result,
                 overhead_ns.interval.lo),
    BC_COLUMN_AS(BC_CELL_US, "overhead_hi_us", BC_INFO, 3, overhead_result,
                 overhead_ns.interval.hi),
    BC_COLUMN_AS(BC_CELL_US, "transfer_us", BC_LESS, 3, overhead_result, transfer_ns.value),
    BC_COLUMN("transfer_avail_pct", BC_INFO, 1, overhead_result, transfer_available_pct.value),
    BC_COLUMN_AS(BC_CELL_US, "transfer_lo_us", BC_INFO, 3, overhead_result,
                 transfer_ns.interval.lo),
    BC_COLUMN_AS(BC_CELL_US, "transfer_hi_us", BC_INFO, 3, overhead_result,
                 transfer_ns.interval.hi),
    BC_COLUMN("avail_lo_pct", BC_INFO, 1, overhead_result, available_pct.interval.lo),
    BC_COLUMN("avail_hi_pct", BC_INFO, 1, overhead_result, available_pct.interval.hi),
    BC_COLUMN("transfer_avail_lo_pct", BC_INFO, 1, overhead_result,
              transfer_available_pct.interval.lo),
    BC_COLUMN("transfer_avail_hi_pct", BC_INFO, 1, overhead_result,
              transfer_available_pct.interval.hi),
    BC_COLUMN("visits", BC_INFO, 0, overhead_result, outcome.visits),
    BC_COLUMN("lost_pct", BC_INFO, 1, overhead_result, outcome.lost_pct),
    BC_COLUMN("samples", BC_INFO, 0, overhead_result, outcome.samples),
    BC_COLUMN("status", BC_INFO, 0, overhead_result, outcome.status),
};

const struct bc_table overhead_table = {
    .columns = columns,
    .count = sizeof columns / sizeof *columns,
    .main = "msgsize,iterations,iter_t,work_t,overhead,base_t,avail(%),"
            "overhead_lo_us,overhead_hi_us,status",
    .spare = "iterations,iter_t,work_t,base_t"};
