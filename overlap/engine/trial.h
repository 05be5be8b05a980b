/*
 * One trial: does this amount of work fit under the operation?
 */
#ifndef COMMCOST_OVERLAP_ENGINE_TRIAL_H
#define COMMCOST_OVERLAP_ENGINE_TRIAL_H

#include "overlap/engine/bench.h"
#include "overlap/engine/search.h"

/* Tries round->units of work for at most so many seconds. `reference` is phase
   1's; work fits as long as the operation takes no longer than threshold_ns
   more with it (robust), or no longer than the reference's mean plus its
   standard deviation (mean). The last three count on rank 0 only. Collective;
   the trial is on rank 0. */
struct overlap_trial overlap_try(struct overlap_bench *bench, struct overlap_round *round,
                                 const struct bc_summary *reference, double threshold_ns,
                                 double seconds);

#endif
