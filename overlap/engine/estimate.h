/*
 * Estimates of how much work fits under the operation, from a rank's rounds.
 *
 * How much work fits follows from work that doesn't: with more work than fits, all that lies beside
 * the work in an operation's time (start and finish) is what can't be overlapped, so that
 *
 *     work that fits = reference - exposed
 *
 * The operation with work is timed in three parts, start, work and finish, so that the exposed time
 * is without the time that the work took in just this operation. A rank that is interrupted in its
 * work (by a daemon, by the host of a virtual machine) only has longer work then: the exposed time
 * and the overlap stay what they are. Where the library itself takes time from the work (a thread
 * that progresses messages), the work takes longer inside than alone, and the difference counts as
 * exposed.
 *
 * Both times are formed on each rank, as lower quartiles of its rounds, which interruptions don't
 * move as long as a quarter of the rounds are free of them. What the library takes from the work is
 * a small difference of long times, and formed from 5 % quantiles. The overlap is also computed
 * with the two quantiles exchanged, and its interval widened by the difference.
 *
 * The slowest rank's of each is taken once a visit, at the end: a max over ranks in each round
 * would grow with the number of ranks wherever there is noise.
 *
 * All functions are local.
 */
#pragma once

#include "common/measure/samples.h"

/* A rank's own values of a round, in ns: the difference of two times of a rank is formed here,
   before any maximum over ranks. */
enum overlap_own_quantity {
    OVERLAP_OWN_PLAIN,  /* start and finish alone; with plenty of work the blocking counterpart */
    OVERLAP_OWN_BESIDE, /* start and finish around the work, and the calls between its parts,
                           without the work */
    OVERLAP_OWN_INSIDE, /* the time that this work took there */
    OVERLAP_OWN_ALONE,  /* ... and alone */
    OVERLAP_OWN_QUANTITIES
};

/* Quantiles of a rank's times. */
struct overlap_quantiles {
    double least_ns, undisturbed_ns, median_ns; /* 5 %, 25 % and 50 % */
    double half_width_ns;                       /* of the interval of undisturbed_ns, at 95 % */
};

/* Returns those of one quantity, in rounds `first` to `end` - 1. */
struct overlap_quantiles overlap_quantiles_of(const struct bc_samples *own, size_t first,
                                              size_t end, int quantity);

/* Returns those of one quantity and `sign` times another one, round by round. */
struct overlap_quantiles overlap_quantiles_of_both(const struct bc_samples *own, size_t first,
                                                   size_t end, int quantity, double sign,
                                                   int other);

/* The estimates, in ns: on a rank from its rounds; over ranks the max of each. */
enum overlap_estimated {
    OVERLAP_EST_REFERENCE,       /* start and finish */
    OVERLAP_EST_TOTAL,           /* start, work and finish */
    OVERLAP_EST_EXPOSED,         /* start and finish, and what the library took from the work */
    OVERLAP_EST_ALONE,           /* the work alone */
    OVERLAP_EST_OTHER_REFERENCE, /* both by other quantiles: how far do they depend on that? */
    OVERLAP_EST_OTHER_EXPOSED,
    OVERLAP_ESTIMATED
};

struct overlap_estimates {
    double ns[OVERLAP_ESTIMATED];
    /* Of the intervals of reference and total, at 95 %; NAN: too few rounds. */
    double half_width_ns[OVERLAP_EST_TOTAL + 1];
};

/* Returns a rank's estimates from rounds `first` to `end` - 1 of its times. */
struct overlap_estimates overlap_estimate_own(const struct bc_samples *own, size_t first,
                                              size_t end);

/* Returns the work that fits: what is not exposed. */
static inline double overlap_knee_of(const struct overlap_estimates *estimates)
{
    return estimates->ns[OVERLAP_EST_REFERENCE] - estimates->ns[OVERLAP_EST_EXPOSED];
}

/* Return by how much the work makes the operation longer, and half the width of its interval. */
static inline double overlap_excess_of(const struct overlap_estimates *estimates)
{
    return estimates->ns[OVERLAP_EST_TOTAL] - estimates->ns[OVERLAP_EST_REFERENCE];
}
double overlap_excess_half_of(const struct overlap_estimates *estimates);
