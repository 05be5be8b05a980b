/* SPDX-License-Identifier: BSD-3-Clause */
#include "syncbench/syncbench.h"

static const struct bc_column columns[] = {
    BC_COLUMN("sync", BC_KEY, 18, syncbench_result, kind),
    BC_COLUMN("neighbours", BC_KEY, 0, syncbench_result, neighbours),
    BC_COLUMN("ranks", BC_KEY, 0, syncbench_result, ranks),
    BC_COLUMN("inner", BC_INFO, 0, syncbench_result, inner),
    BC_COLUMN("outer", BC_INFO, 0, syncbench_result, outcome.samples),
    BC_COLUMN_AS(BC_CELL_US, "ref_us", BC_INFO, 4, syncbench_result, reference.value),
    BC_COLUMN_AS(BC_CELL_US, "ref_sd_us", BC_INFO, 4, syncbench_result, reference.sd),
    BC_COLUMN_AS(BC_CELL_US, "loop_us", BC_INFO, 4, syncbench_result, loop.value),
    BC_COLUMN_AS(BC_CELL_US, "loop_sd_us", BC_INFO, 4, syncbench_result, loop.sd),
    BC_US_COLUMNS(BC_CELL_US, "sync", BC_LESS, 4, syncbench_result, sync),
    BC_COLUMN_AS(BC_CELL_US, "sync_p99_us", BC_INFO, 4, syncbench_result, sync.p99),
    BC_COLUMN_AS(BC_CELL_US, "sync_max_us", BC_INFO, 4, syncbench_result, sync.max),
    BC_COLUMN("outliers", BC_INFO, 0, syncbench_result, outliers),
    BC_COLUMN("check", BC_INFO, 0, syncbench_result, check),
    BC_OUTCOME_COLUMNS(syncbench_result, outcome),
};

const struct bc_table syncbench_table = {
    .columns = columns,
    .count = sizeof columns / sizeof *columns,
    .main = "sync,neighbours,ranks,ref_us,loop_us,sync_us,sync_lo_us,sync_hi_us,status"};
