/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_overhead/mpi_overhead.h"

#include "common/memory/allocate.h"

#include <stdlib.h>
#include <string.h>

/* Quantiles taken as undisturbed times: the first one yields the value, the second one shows how
   much the value depends on this choice. */
static const double undisturbed[] = {0.05, 0.25};
enum { CHOICES = sizeof undisturbed / sizeof *undisturbed };

/* Computes the quantiles `undisturbed` of `values`. `sorted` has room for all values. */
static void find_undisturbed(const double *values, size_t count, double *sorted,
                             double quantiles[CHOICES])
{
    memcpy(sorted, values, count * sizeof *sorted);
    bc_sort(sorted, count);
    for (int i = 0; i < CHOICES; i++)
        quantiles[i] = bc_quantile(sorted, count, undisturbed[i]);
}

struct bc_summary overhead_excess(const struct bc_run *run, const struct bc_samples *samples,
                                  int quantity, int subtrahend)
{
    const double confidence = run->settings.confidence_pct / 100.0;
    struct bc_summary summary = bc_samples_summary(run, samples, quantity, subtrahend);
    if (samples->visits < 2)
        return summary;
    double *const sorted =
        bc_allocate(samples->count, sizeof *sorted, "no memory for %zu samples", samples->count);
    /* One sample per visit that has samples, one quantity per choice. */
    struct bc_samples excesses = {.count = 0};
    for (size_t v = 0; v < samples->visits; v++) {
        const struct bc_samples visit = bc_samples_of_visit(samples, v);
        double excess[CHOICES], shorter[CHOICES];
        if (visit.count == 0)
            continue;
        find_undisturbed(visit.values[quantity], visit.count, sorted, excess);
        find_undisturbed(visit.values[subtrahend], visit.count, sorted, shorter);
        for (int i = 0; i < CHOICES; i++)
            excess[i] -= shorter[i];
        bc_samples_append(&excesses, excess, CHOICES, 0);
    }
    free(sorted);
    if (excesses.count >= 2) {
        const struct bc_summary all =
            bc_mean_of_visits(excesses.values[0], excesses.count, confidence);
        const struct bc_summary other =
            bc_mean_of_visits(excesses.values[1], excesses.count, confidence);
        summary.value = all.value;
        summary.interval = bc_interval_with(&all, other.value - all.value);
    }
    bc_samples_free(&excesses);
    return summary;
}
