/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static const struct bc_column columns[] = {
    BC_COLUMN("operation", BC_KEY, 20, collective_result, operation),
    BC_COLUMN("type", BC_KEY, 6, collective_result, type),
    BC_COLUMN("op", BC_KEY, 3, collective_result, op),
    BC_COLUMN("in_place", BC_RUN_KEY, 0, collective_result, in_place),
    BC_COLUMN("root", BC_KEY, 6, collective_result, root),
    BC_COLUMN("elements", BC_INFO, 0, collective_result, elements),
    BC_COLUMN_AS(BC_CELL_AMOUNT, "size_bytes", BC_KEY, 3, collective_result, size_bytes),
    BC_TIME_COLUMNS("time", BC_LESS, 3, collective_result, time),
    BC_US_COLUMNS(BC_CELL_TIME, "own", BC_INFO, 3, collective_result, own),
    BC_US_COLUMNS(BC_CELL_TIME, "skew", BC_INFO, 3, collective_result, skew),
    BC_COLUMN("check", BC_INFO, 0, collective_result, check),
    BC_OUTCOME_COLUMNS(collective_result, outcome),
};

static const struct bc_table table = {
    .columns = columns,
    .count = COUNT(columns),
    .main = "operation,size_bytes,time_us,time_lo_us,time_hi_us,own_us,skew_us,status"};

/* With --guidelines. */
static const struct bc_column guideline_columns[] = {
    BC_US_COLUMNS(BC_CELL_TIME, "alternative", BC_LESS, 3, collective_comparison, time),
    BC_COLUMN("slower_pct", BC_INFO, 1, collective_comparison, slower_pct.value),
    BC_COLUMN("slower_lo_pct", BC_INFO, 1, collective_comparison, slower_pct.interval.lo),
    BC_COLUMN("slower_hi_pct", BC_INFO, 1, collective_comparison, slower_pct.interval.hi),
    BC_COLUMN("guideline", BC_INFO, 9, collective_comparison, guideline),
};

#define GUIDELINE_COLUMNS                                                                          \
    "operation,size_bytes,alternative,time_us,alternative_us,slower_pct,slower_lo_pct,"            \
    "slower_hi_pct,guideline,status"

static const struct bc_column alternative_column =
    BC_COLUMN("alternative", BC_KEY, 24, collective_result, comparison.alternative);

/* A key with --buffers=new. */
static const struct bc_column buffers_column =
    BC_COLUMN("buffers", BC_RUN_KEY, 0, collective_result, buffers);

/* Main columns with buffers on a device. */
#define MEMORY_COLUMNS                                                                             \
    "operation,size_bytes,time_us,staged_us,direct_gain_pct,direct_gain_lo_pct,"                   \
    "direct_gain_hi_pct,direct_verdict,status"

const struct bc_table *collective_table(const struct collective *collective)
{
    const struct bc_table *with = &table;
    if (collective->device != NULL)
        with = bc_memory_table(with, offsetof(struct collective_result, staged), MEMORY_COLUMNS);
    if (collective->parameters.guidelines)
        with = bc_table_with_key(
            bc_table_with_columns(with, guideline_columns, COUNT(guideline_columns),
                                  offsetof(struct collective_result, comparison), GUIDELINE_COLUMNS,
                                  "time_us,alternative_us,status"),
            alternative_column);
    if (collective->parameters.buffers == BC_BUFFERS_NEW)
        with = bc_table_with_key(with, buffers_column);
    return with;
}
