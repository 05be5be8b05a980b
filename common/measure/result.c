/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/measure/result.h"

void bc_store_conclude(const struct bc_run *run, struct bc_store *store, const char *quantity,
                       struct bc_repetition_result *result)
{
    static const struct bc_quantities repetition = {.count = 1};
    const struct bc_samples *const samples = &store->samples;
    *result =
        (struct bc_repetition_result){.repetitions = (int64_t)samples->count * store->repetitions};
    if (run->job.rank == 0) {
        result->repetition = bc_store_summary(run, store, -1);
        if (samples->values[1] != NULL) {
            result->counterpart = bc_samples_summary(run, samples, 1, -1);
            result->gain = bc_samples_summary(run, samples, 1, 0);
        }
        for (size_t i = 0; i < samples->count; i++)
            result->total_s += samples->values[0][i] * (double)store->repetitions * 1e-9;
        result->outcome =
            bc_samples_outcome(run, samples, bc_store_is_precise(run, &repetition, store));
        bc_samples_dump(run, quantity, samples, 0);
    }
    bc_store_free(store);
}
