#include "mpi_overhead/excess.h"

#include "common/mpi/mpi_check.h"

#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "no memory for %zu samples"

/* The quantiles that stand for undisturbed times: the first one makes the value, the second one
   tells how far the value depends on this choice. */
static const double undisturbed[] = {0.05, 0.25};
enum { CHOICES = sizeof undisturbed / sizeof *undisturbed };

/* Writes these quantiles of `values`, using `sorted` for as many values. */
static void find_undisturbed(const double *values, size_t count, double *sorted,
                             double quantiles[CHOICES])
{
    memcpy(sorted, values, count * sizeof *sorted);
    bc_sort(sorted, count);
    for (int i = 0; i < CHOICES; i++)
        quantiles[i] = bc_quantile(sorted, count, undisturbed[i]);
}

struct bc_summary overhead_excess(const struct bc_samples *samples, int quantity, int subtrahend,
                                  double confidence)
{
    const size_t visits = samples->visits;
    struct bc_summary summary =
        bc_samples_summarize(samples, quantity, subtrahend, BC_MEDIAN, confidence);
    if (visits < 2)
        return summary;
    double *const excesses =
        bc_allocate(CHOICES * visits, sizeof *excesses, NO_MEMORY, CHOICES * visits);
    double *const sorted = bc_allocate(samples->count, sizeof *sorted, NO_MEMORY, samples->count);
    size_t taken = 0; /* visits with samples */
    for (size_t v = 0; v < visits; v++) {
        const struct bc_samples visit = bc_samples_of_visit(samples, v);
        double longer[CHOICES], shorter[CHOICES];
        if (visit.count == 0)
            continue;
        find_undisturbed(visit.values[quantity], visit.count, sorted, longer);
        find_undisturbed(visit.values[subtrahend], visit.count, sorted, shorter);
        for (int i = 0; i < CHOICES; i++)
            excesses[(size_t)i * visits + taken] = longer[i] - shorter[i];
        taken++;
    }
    const struct bc_summary all = bc_mean_of_visits(excesses, taken, confidence);
    const struct bc_summary other = bc_mean_of_visits(excesses + visits, taken, confidence);
    free(sorted);
    free(excesses);
    if (taken < 2)
        return summary;
    summary.value = all.value;
    summary.interval = bc_interval_with(&all, other.value - all.value);
    return summary;
}
