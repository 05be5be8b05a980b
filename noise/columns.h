/* What a row of noise says. */
#pragma once

#include "common/result/output.h"
#include "common/stats/stats.h"
#include "noise/sources.h"

struct noise_result {
    const char *scope; /* job, host (or rank), source, collective */
    char host[BC_CELL_LENGTH], ranks[BC_CELL_LENGTH];
    const char *source;         /* periodic, irregular */
    char about[BC_CELL_LENGTH]; /* distinguishes sources of the same ranks */
    const char *operation;
    int64_t grain_us;
    struct noise_amount stops; /* of a rank; p99 and max of length_ns are of single stops */
    double period_ms;
    struct bc_interval period_interval_ms;
    struct bc_summary step; /* ns */
    double usual_ns;
    struct bc_summary slowdown_pct, predicted_pct;
    struct bc_outcome outcome;
};

extern const struct bc_table noise_table;
