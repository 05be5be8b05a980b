/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates of the work that fits under the operation, from a rank's rounds. All functions are
 * local.
 *
 * With more work than fits, all time beside the work (start and finish) is exposed, so
 *
 *     work that fits = reference - exposed
 *
 * Start, work and finish are timed separately, so an interruption of the work only makes the work
 * longer. If the library itself takes time from the work (a progress thread), the work takes longer
 * inside the operation than alone, and the difference is exposed time.
 *
 * Reference and exposed time are lower quartiles of a rank's rounds: interruptions don't move them
 * while a quarter of the rounds are undisturbed. The time that the library takes is a small
 * difference of long times, formed from 5 % quantiles. The overlap is computed again with both
 * quantiles exchanged, and the difference widens its interval.
 *
 * The slowest rank's estimates are taken once per visit: under noise, a max over ranks in each
 * round would grow with the number of ranks.
 */
#pragma once

#include "common/measure/samples.h"

/* A rank's own values of a round, in ns. */
enum overlap_own_quantity {
    OVERLAP_OWN_PLAIN,  /* start and finish alone; with --plenty of work the blocking counterpart */
    OVERLAP_OWN_BESIDE, /* start and finish around the work, and calls between its parts, without
                           the work */
    OVERLAP_OWN_INSIDE, /* the work inside the operation */
    OVERLAP_OWN_ALONE,  /* the work alone */
    OVERLAP_OWN_QUANTITIES
};

/* Quantiles of a rank's times. */
struct overlap_quantiles {
    double least_ns, undisturbed_ns, median_ns; /* 5 %, 25 % and 50 % */
    double half_width_ns;                       /* of the interval of undisturbed_ns, at 95 % */
};

/* Returns the quantiles of a quantity, in rounds `first` to `end` - 1. */
struct overlap_quantiles overlap_quantiles_of(const struct bc_samples *own, size_t first,
                                              size_t end, int quantity);

/* Returns the quantiles of a quantity plus `sign` times another, round by round. */
struct overlap_quantiles overlap_quantiles_of_both(const struct bc_samples *own, size_t first,
                                                   size_t end, int quantity, double sign,
                                                   int other);

/* Estimates in ns: of a rank from its rounds; over ranks the max of each. */
enum overlap_estimated {
    OVERLAP_EST_REFERENCE, /* start and finish */
    OVERLAP_EST_TOTAL,     /* start, work and finish */
    OVERLAP_EST_EXPOSED,   /* start and finish, and the time that the library took from the work */
    OVERLAP_EST_ALONE,     /* the work alone */
    OVERLAP_EST_OTHER_REFERENCE, /* reference and exposed time by exchanged quantiles */
    OVERLAP_EST_OTHER_EXPOSED,
    OVERLAP_ESTIMATED
};

struct overlap_estimates {
    double ns[OVERLAP_ESTIMATED];
    /* Of reference and total, at 95 %; NAN: too few rounds. */
    double half_width_ns[OVERLAP_EST_TOTAL + 1];
};

struct overlap_estimates overlap_estimate_own(const struct bc_samples *own, size_t first,
                                              size_t end);

/* Returns the work that fits. */
static inline double overlap_knee_of(const struct overlap_estimates *estimates)
{
    return estimates->ns[OVERLAP_EST_REFERENCE] - estimates->ns[OVERLAP_EST_EXPOSED];
}

/* Return the time that the work adds to the operation, and half the width of its interval. */
static inline double overlap_excess_of(const struct overlap_estimates *estimates)
{
    return estimates->ns[OVERLAP_EST_TOTAL] - estimates->ns[OVERLAP_EST_REFERENCE];
}
double overlap_excess_half_of(const struct overlap_estimates *estimates);
