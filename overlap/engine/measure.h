/*
 * One row of the overlap suite: the four phases for one collective at one
 * size.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_MEASURE_H
#define COMMCOST_OVERLAP_ENGINE_MEASURE_H

#include "overlap/engine/bench.h"

#include <stdbool.h>

/* What a row says; times in nanoseconds with the clock's cost taken off.
   Filled on rank 0 only. */
struct overlap_result {
    double reference_sd_ns;
    struct bc_summary reference, work, total;
    double overlap_pct, overlap_lo_pct, overlap_hi_pct;
    int slowest_rank;
    bool in_time; /* the precision was reached before the time was up */
};

/* Measures the overlap of an operation within so many seconds (significant on
   rank 0). Collective. */
void overlap_measure(struct overlap_bench *bench, struct overlap_operation *operation,
                     double seconds, struct overlap_result *result);

/* The operation's reference time in nanoseconds from a few operations, the
   same on every rank; `seconds` (significant on rank 0) bounds it. Collective.
 */
double overlap_quick_reference_ns(struct overlap_bench *bench, struct overlap_operation *operation,
                                  double seconds);

#endif
