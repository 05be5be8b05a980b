/*
 * What all measurements of a run share, and the few things that every phase
 * does.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_BENCH_H
#define COMMCOST_OVERLAP_ENGINE_BENCH_H

#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "common/clock/work.h"
#include "overlap/engine/kernel.h"
#include "overlap/engine/operation.h"
#include "overlap/engine/parameters.h"

#include <stdbool.h>

struct overlap_bench {
    struct bc_run *run;
    const struct overlap_parameters *parameters;
    const struct overlap_collective *collective;
    struct bc_sampler *sampler; /* over MPI_COMM_WORLD */
    struct bc_work_rate rate;   /* of rank 0; corrected as it is used */
    int64_t wrong;              /* operations with wrong data on this rank so far */
};

/* Whether the estimator is the robust one (the default), or the specification's
   mean. */
bool overlap_is_robust(const struct overlap_bench *bench);

/* Runs the source, keeps count of wrong data and returns the samples, which
   are on rank 0 only. Collective. */
const struct bc_samples *overlap_run_rounds(struct overlap_bench *bench,
                                            struct overlap_round *round,
                                            const struct bc_source *source,
                                            const struct bc_plan *plan);

/* By how much the operation took longer with work than without, round by round:
   the median, whatever the estimator. Local; rank 0. */
struct bc_summary overlap_summarize_excess(const struct bc_samples *samples, double confidence);

/* The same with a value of 0 in place of one below: what the clock can't see took no
   time, not less. */
struct bc_summary overlap_not_negative(struct bc_summary summary);

#endif
