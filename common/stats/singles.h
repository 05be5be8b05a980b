/*
 * Single repetitions, timed in turn with batches of them: what the 99th percentile and the
 * maximum are of. A batch's time over its repetitions hides late ones: one of 150 that
 * takes 10 times as long as the others adds 6 % to that mean.
 *
 * Value, interval and precision are the batches' alone. After each batch of rounds single
 * repetitions are taken for a tenth of the time that has passed, and when the batches are
 * done up to 1000 in all, if a tenth of the row's time is enough for that; one at the least,
 * and never more than a row may have samples (--samples, --max-samples).
 * A repetition of less than 100 clock costs is known less well than a batch, by the clock's
 * resolution and by how much its cost varies.
 */
#ifndef COMMCOST_COMMON_STATS_SINGLES_H
#define COMMCOST_COMMON_STATS_SINGLES_H

#include "common/run/run.h"
#include "common/stats/sampling.h"
#include "common/stats/stats.h"

#include <stdbool.h>

/* bc_run_sample, or bc_run_sample_difference if `difference`, of `batches`, in turn with
   rounds of `singles`, which has the same quantities; p99 and max of the summary are those
   of the singles. run->sampler has the batches' samples afterwards.
   Collective. */
bool bc_sample_with_singles(const struct bc_run *run, const struct bc_source *batches,
                            const struct bc_source *singles, bool difference, double seconds,
                            struct bc_summary *summary);

#endif
