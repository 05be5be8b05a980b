/*
 * One row of the overlap suite: the four phases for one collective at one size.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_MEASURE_H
#define COMMCOST_OVERLAP_ENGINE_MEASURE_H

#include "common/clock/work.h"
#include "common/run/run.h"
#include "overlap/engine/operation.h"
#include "overlap/engine/parameters.h"

#include <stdbool.h>
#include <stdint.h>

/* What the rows of a run share. */
struct overlap_state {
    struct overlap_parameters parameters; /* first: the frame reads the options into it */
    bool shrunk;                          /* on rank 0: memory lowered the default max_elements */
    struct bc_run *run;
    struct bc_work_rate first_rate; /* of this rank's work, when the run began */
    struct bc_work_rate rate;       /* the same, corrected by trials; rank 0's is used */
};

/* What a row says, on rank 0. Times in ns, with the clock's cost taken off. */
struct overlap_result {
    const char *collective, *model;
    int64_t elements;
    double size_bytes;

    struct bc_summary reference, work, total;
    double reference_sd_ns;
    double overlap_pct, overlap_lo_pct, overlap_hi_pct;
    struct bc_outcome outcome;
};

/* Measures the overlap of an operation within `seconds` (significant on rank 0) and fills in the
   result from `reference` on. Returns this rank's operations with wrong data. Collective. */
int64_t overlap_run_phases(struct overlap_state *overlap, struct overlap_operation *operation,
                           double seconds, struct overlap_result *result);

/* The operation's reference time in ns from a few operations, the same on every rank; `seconds`
   (significant on rank 0) bounds the time for them. Collective. */
double overlap_quick_reference_ns(struct overlap_state *overlap,
                                  struct overlap_operation *operation, double seconds);

#endif
