/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/estimate.h"

#include "common/memory/allocate.h"

#include <math.h>
#include <stdlib.h>

/* Quantiles that stand for a rank's undisturbed time. */
#define UNDISTURBED 0.25
#define LEAST_DISTURBED 0.05

/* Confidence of the two times that a trial compares. */
#define TRIAL_CONFIDENCE 0.95

/* ---- a rank's times -------------------------------------------------------------------------- */

struct overlap_quantiles overlap_quantiles_of_both(const struct bc_samples *own, size_t first,
                                                   size_t end, int quantity, double sign, int other)
{
    const size_t count = end - first;
    double *const sorted = bc_allocate(count, sizeof *sorted, "no memory for %zu rounds", count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = own->values[quantity][first + i] + sign * own->values[other][first + i];
    bc_sort(sorted, count);
    const struct bc_interval interval =
        bc_quantile_interval(sorted, count, UNDISTURBED, TRIAL_CONFIDENCE);
    const struct overlap_quantiles quantiles = {
        .least_ns = bc_quantile(sorted, count, LEAST_DISTURBED),
        .undisturbed_ns = bc_quantile(sorted, count, UNDISTURBED),
        .median_ns = bc_quantile(sorted, count, 0.5),
        .half_width_ns = (interval.hi - interval.lo) / 2.0,
    };
    free(sorted);
    return quantiles;
}

struct overlap_quantiles overlap_quantiles_of(const struct bc_samples *own, size_t first,
                                              size_t end, int quantity)
{
    return overlap_quantiles_of_both(own, first, end, quantity, 0.0, quantity);
}

/* ---- work that fits -------------------------------------------------------------------------- */

struct overlap_estimates overlap_estimate_own(const struct bc_samples *own, size_t first,
                                              size_t end)
{
    const struct overlap_quantiles plain = overlap_quantiles_of(own, first, end, OVERLAP_OWN_PLAIN);
    const struct overlap_quantiles beside =
        overlap_quantiles_of(own, first, end, OVERLAP_OWN_BESIDE);
    const struct overlap_quantiles inside =
        overlap_quantiles_of(own, first, end, OVERLAP_OWN_INSIDE);
    const struct overlap_quantiles alone = overlap_quantiles_of(own, first, end, OVERLAP_OWN_ALONE);
    const struct overlap_quantiles total =
        overlap_quantiles_of_both(own, first, end, OVERLAP_OWN_BESIDE, 1.0, OVERLAP_OWN_INSIDE);
    /* Time taken from the work by the library. */
    const double taken_ns = inside.least_ns - alone.least_ns;
    const double other_taken_ns = inside.undisturbed_ns - alone.undisturbed_ns;
    return (struct overlap_estimates){
        .ns = {[OVERLAP_EST_REFERENCE] = plain.undisturbed_ns,
               [OVERLAP_EST_TOTAL] = total.undisturbed_ns,
               [OVERLAP_EST_EXPOSED] = beside.undisturbed_ns + taken_ns,
               [OVERLAP_EST_ALONE] = alone.undisturbed_ns,
               [OVERLAP_EST_OTHER_REFERENCE] = plain.least_ns,
               [OVERLAP_EST_OTHER_EXPOSED] = beside.least_ns + other_taken_ns},
        .half_width_ns = {[OVERLAP_EST_REFERENCE] = plain.half_width_ns,
                          [OVERLAP_EST_TOTAL] = total.half_width_ns},
    };
}

double overlap_excess_half_of(const struct overlap_estimates *estimates)
{
    return hypot(estimates->half_width_ns[OVERLAP_EST_TOTAL],
                 estimates->half_width_ns[OVERLAP_EST_REFERENCE]);
}
