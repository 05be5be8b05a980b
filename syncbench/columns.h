/* What a row of syncbench says. */
#pragma once

#include "common/result/output.h"
#include "common/stats/stats.h"

/* Times are in ns a repetition. What comes from samples is on rank 0 only. */
struct syncbench_result {
    const char *kind;
    int neighbours, ranks;
    int64_t inner;
    struct bc_summary reference, loop;
    struct bc_summary sync; /* p99 and max are of loops of one repetition (common/batch/batch.h),
                               in which each rank has one turn where ranks take turns */
    int64_t outliers;       /* samples of the loop beyond 3 sd */
    const char *check;
    struct bc_outcome outcome;
};

extern const struct bc_table syncbench_table;
