/* What rows say: those of monitor_overhead, and those of the monitor's reports. */
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

/* Of MPIX_Monitor_row. */
extern const struct bc_table monitor_report_table;

/* How a column's values on two ranks become one; what is NA on one of them is the other's. */
enum monitor_merge {
    KEPT,
    SUMMED,
    GREATEST,
    LEAST,
    GREATEST_OF_RANK /* with its rank, the next column: of equal ones, the lowest */
};

/* By column of monitor_report_table. */
extern const enum monitor_merge monitor_report_merges[];
