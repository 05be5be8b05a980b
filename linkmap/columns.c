/* SPDX-License-Identifier: BSD-3-Clause */
#include "linkmap/linkmap.h"

#define BANDWIDTH_COLUMNS(name, way)                                                               \
    BC_COLUMN(name "_mbs", BC_MORE, 3, linkmap_result, ways[way].value),                           \
        BC_COLUMN(name "_lo_mbs", BC_INFO, 3, linkmap_result, ways[way].interval.lo),              \
        BC_COLUMN(name "_hi_mbs", BC_INFO, 3, linkmap_result, ways[way].interval.hi)

const struct bc_column linkmap_memory_column =
    BC_COLUMN("memory", BC_RUN_KEY, 7, linkmap_result, memory);

static const struct bc_column columns[] = {
    BC_COLUMN("scope", BC_KEY, 5, linkmap_result, scope),
    BC_COLUMN("a", BC_KEY, 8, linkmap_result, a),
    BC_COLUMN("b", BC_KEY, 8, linkmap_result, b),
    BC_COLUMN("nbytes", BC_KEY, 7, linkmap_result, bytes),
    BC_COLUMN_AS(BC_CELL_TIME, "time_us", BC_LESS, 3, linkmap_result, time.value),
    BC_COLUMN_AS(BC_CELL_TIME, "time_lo_us", BC_INFO, 3, linkmap_result, time.interval.lo),
    BC_COLUMN_AS(BC_CELL_TIME, "time_hi_us", BC_INFO, 3, linkmap_result, time.interval.hi),
    BANDWIDTH_COLUMNS("out", LINKMAP_OUT),
    BANDWIDTH_COLUMNS("in", LINKMAP_IN),
    BC_COLUMN("alone_pct", BC_INFO, 1, linkmap_result, alone_pct),
    BC_COLUMN_ABOUT("even if no slower than the other links explain; NA: not judged", "verdict",
                    BC_INFO, 11, linkmap_result, verdict),
    BC_COLUMN("group", BC_INFO, 0, linkmap_result, group),
    BC_EXPECTED_COLUMNS(linkmap_result, expected),
    BC_OUTCOME_COLUMNS(linkmap_result, outcome),
};

const struct bc_table linkmap_table = {
    .columns = columns,
    .count = sizeof columns / sizeof *columns,
    .main = "scope,a,b,nbytes,verdict,time_us,out_mbs,in_mbs,alone_pct,share_pct,status",
    .spare = "alone_pct,share_pct"};
