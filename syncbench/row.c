/* SPDX-License-Identifier: BSD-3-Clause */
#include "syncbench/syncbench.h"

#include <math.h>

/* Limit of outliers, and half-width of the specified interval, in sd. */
#define OUTLIER_SD 3.0
#define INTERVAL_SD 1.96

const struct bc_precise_value syncbench_precise = {.quantity = SYNCBENCH_LOOP,
                                                   .subtrahend = SYNCBENCH_REFERENCE};

static void summarize(const struct bc_run *run, const struct syncbench_row *row,
                      struct syncbench_result *result)
{
    const struct bc_samples *const samples = &row->loops.samples;
    bc_samples_dump(run, "loop", samples, SYNCBENCH_LOOP);
    bc_samples_dump(run, "reference", samples, SYNCBENCH_REFERENCE);
    result->loop = bc_samples_summary(run, samples, SYNCBENCH_LOOP, -1);
    result->reference = bc_samples_summary(run, samples, SYNCBENCH_REFERENCE, -1);
    result->sync = bc_store_summary(run, &row->loops, SYNCBENCH_REFERENCE);
    /* One clock reading wider, since the loops differ in more than the synchronisation. */
    const double reading_ns = run->max_clock.read_ns / (double)row->loops.repetitions;
    result->sync.interval.lo -= reading_ns;
    result->sync.interval.hi += reading_ns;
    result->outcome = bc_samples_outcome(
        run, samples,
        bc_samples_are_precise(run, samples, row->loops.in_time, &syncbench_precise, 1));
    for (size_t i = 0; i < samples->count; i++)
        result->outliers += fabs(samples->values[SYNCBENCH_LOOP][i] - result->loop.value) >
                            OUTLIER_SD * result->loop.sd;
    if (run->settings.estimator == BC_MEAN) {
        const double error_ns = INTERVAL_SD * (result->loop.sd + result->reference.sd);
        result->sync.interval.lo = result->sync.value - error_ns;
        result->sync.interval.hi = result->sync.value + error_ns;
    }
}

void syncbench_conclude(const struct bc_run *run, struct syncbench_row *row,
                        struct syncbench_result *result)
{
    *result = (struct syncbench_result){.inner = row->loops.repetitions};
    if (run->job.rank == 0)
        summarize(run, row, result);
    bc_store_free(&row->loops);
}
