/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates of the gain over the blocking counterpart: a rank's in a visit, and a row's. All
 * functions are local.
 *
 * The cost of an operation with plenty of work under it is the exposed time (estimate.h), but by
 * medians, against the median of the blocking counterpart. If the library takes time from the work
 * in some rounds only, 5 % quantiles show too little: the median of the differences of rounds is
 * used if it is larger by more than visits differ.
 */
#pragma once

#include "overlap/engine/estimate.h"

/* Estimates in ns: of a rank from its rounds; over ranks, and of a visit, the max of each. */
enum overlap_gain_estimated {
    OVERLAP_GAIN_BLOCKING,
    OVERLAP_GAIN_EXPOSED,
    OVERLAP_GAIN_MEDIAN_EXPOSED, /* by the median of the time taken from the work */
    OVERLAP_GAIN_ESTIMATED
};

/* Writes a rank's estimates from rounds `first` to `end` - 1, at least one. */
void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED]);

/* A row's gain. Times in ns; NAN if there is no blocking counterpart. */
struct overlap_gain {
    struct bc_summary blocking, exposed;
    struct bc_summary gain;     /* blocking - exposed */
    struct bc_summary gain_pct; /* of blocking; NAN if that is too short for the clock */
};

/* Returns the gain of visits (OVERLAP_GAIN_ESTIMATED quantities, at least one visit). `blocks`,
   parts of the first visit, make the interval of a single visit. Intervals are widened by the
   difference of both exposed times, and by calls_ns, the uncertainty of the cost of calls. */
struct overlap_gain overlap_gain_of_visits(const struct bc_samples *visits,
                                           const struct bc_samples *blocks, double calls_ns,
                                           double confidence);
