/*
 * Estimates of what is gained against the blocking counterpart: a rank's in a visit, and a row's.
 *
 * A program's cost of an operation with plenty of work under it is the exposed time, as in
 * estimate.h, but by medians, against the median of the blocking counterpart. If the library takes
 * time from the work in some rounds only, or more in some than in others, 5 % quantiles show too
 * little of it: the median of the differences of rounds is used if it exceeds the other by more
 * than visits differ by.
 *
 * All functions are local.
 */
#pragma once

#include "overlap/engine/estimate.h"

/* The estimates, in ns: on a rank from its rounds; over ranks, and of a visit, the max of each. */
enum overlap_gain_estimated {
    OVERLAP_GAIN_BLOCKING,
    OVERLAP_GAIN_EXPOSED,
    OVERLAP_GAIN_MEDIAN_EXPOSED, /* by the median of what the library takes from the work */
    OVERLAP_GAIN_ESTIMATED
};

/* Writes a rank's estimates from rounds `first` to `end` - 1 of its times; at least one round. */
void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED]);

/* A row's gain. Times in ns; NAN without the blocking counterpart. */
struct overlap_gain {
    struct bc_summary blocking, exposed;
    struct bc_summary gain;     /* blocking - exposed */
    struct bc_summary gain_pct; /* of blocking; NAN where that is too short for the clock */
};

/* Returns the gain by what visits say (OVERLAP_GAIN_ESTIMATED quantities, at least one visit).
   `blocks`, parts of the first visit, make the interval where there is one visit. Intervals are
   widened by what both exposed times differ by, and end further out by calls_ns: the cost of calls
   is known no better. */
struct overlap_gain overlap_gain_of_visits(const struct bc_samples *visits,
                                           const struct bc_samples *blocks, double calls_ns,
                                           double confidence);
