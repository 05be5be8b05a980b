/*
 * Single repetitions, timed in turn with batches of repetitions, for the 99th percentile and the
 * maximum. A batch hides late repetitions in its mean: one repetition of 150 that takes 10 times as
 * long as the others adds 6 % to the mean.
 *
 * Value, interval and precision come from the batches alone. After each batch of rounds single
 * repetitions are taken until they have used a tenth of the time that has passed; when the batches
 * are done, up to 1000 in all, if a tenth of the row's time is enough for that. At least one is
 * taken, and never more than a row may have samples (--samples, --max-samples). A repetition
 * shorter than 100 clock costs is less exact than a batch, by the clock's resolution and by how
 * much its cost varies.
 */
#ifndef COMMCOST_COMMON_STATS_SINGLES_H
#define COMMCOST_COMMON_STATS_SINGLES_H

#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "common/stats/stats.h"

#include <stdbool.h>

/* Calls bc_run_sample for `batches`, or bc_run_sample_difference if `difference`, in turn with
   rounds of `singles`, which has the same quantities; p99 and max of the summary are those of
   `singles`. Afterwards run->sampler has the samples of `batches`. Returns what that call returns.
   Collective. */
bool bc_sample_with_singles(const struct bc_run *run, const struct bc_source *batches,
                            const struct bc_source *singles, bool difference, double seconds,
                            struct bc_summary *summary);

#endif
