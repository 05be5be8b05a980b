/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of monitor_overhead's rows. */
#pragma once

#include "common/result/output.h"
#include "common/stats/stats.h"

struct monitor_overhead_result {
    const char *call, *mode;
    double direct_ns, monitored_ns;
    struct bc_summary added;
    int64_t repetitions;
    struct bc_outcome outcome;
};

extern const struct bc_table monitor_overhead_table;
