#include "overlap/engine/estimate.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>

/* The quantiles of a rank's times that stand for its undisturbed time. */
#define UNDISTURBED 0.25
#define LEAST_DISTURBED 0.05

void overlap_estimate_own(const struct bc_samples *own, size_t first, size_t end, double confidence,
                          struct overlap_estimate *estimates)
{
    const size_t count = end - first;
    double *const sorted = bc_allocate(count, sizeof *sorted, "no memory for %zu rounds", count);
    struct overlap_estimate of[OVERLAP_OWN_QUANTITIES + 1]; /* and of the total */
    double least_ns[OVERLAP_OWN_QUANTITIES + 1];
    for (int q = 0; q <= OVERLAP_OWN_QUANTITIES; q++) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = q < OVERLAP_OWN_QUANTITIES ? own->values[q][first + i]
                                                   : own->values[OVERLAP_OWN_BESIDE][first + i] +
                                                         own->values[OVERLAP_OWN_INSIDE][first + i];
        bc_sort(sorted, count);
        const struct bc_interval interval =
            bc_quantile_interval(sorted, count, UNDISTURBED, confidence);
        of[q] = (struct overlap_estimate){bc_quantile(sorted, count, UNDISTURBED),
                                          (interval.hi - interval.lo) / 2.0};
        least_ns[q] = bc_quantile(sorted, count, LEAST_DISTURBED);
    }
    free(sorted);
    estimates[OVERLAP_EST_REFERENCE] = of[OVERLAP_OWN_REFERENCE];
    estimates[OVERLAP_EST_TOTAL] = of[OVERLAP_OWN_QUANTITIES];
    estimates[OVERLAP_EST_ALONE] = of[OVERLAP_OWN_ALONE];
    estimates[OVERLAP_EST_EXPOSED] = of[OVERLAP_OWN_BESIDE];
    estimates[OVERLAP_EST_OTHER_REFERENCE] =
        (struct overlap_estimate){least_ns[OVERLAP_OWN_REFERENCE], NAN};
    estimates[OVERLAP_EST_OTHER_EXPOSED] =
        (struct overlap_estimate){least_ns[OVERLAP_OWN_BESIDE], NAN};
    /* What the library took from the work. */
    estimates[OVERLAP_EST_EXPOSED].ns += least_ns[OVERLAP_OWN_INSIDE] - least_ns[OVERLAP_OWN_ALONE];
    estimates[OVERLAP_EST_OTHER_EXPOSED].ns += of[OVERLAP_OWN_INSIDE].ns - of[OVERLAP_OWN_ALONE].ns;
}
