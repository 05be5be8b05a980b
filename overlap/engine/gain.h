/*
 * Is it worth going non-blocking? What a program pays for an operation with plenty of work under
 * it, the exposed time, against what the blocking counterpart costs.
 *
 * The exposed time is what the operation adds to the work: the total less that rank's own work
 * alone. It is formed on each rank: the median over rounds of what lies beside the work, and what
 * the library takes from the work, by which that is longer inside the operation than alone. The
 * latter is the difference of 5 % quantiles, which stops of the rank don't move. Where the library
 * takes time in some rounds only, or more in some than in others, that is too little: the median of
 * the differences of rounds is used where it exceeds the other by more than visits differ by. The
 * blocking counterpart's time is a median over rounds, too. The slowest rank's of each is taken
 * once a visit, after that: a max over ranks in each round would grow with the number of ranks
 * wherever there is noise.
 *
 * All functions are local.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_GAIN_H
#define COMMCOST_OVERLAP_ENGINE_GAIN_H

#include "common/sampling/samples.h"

/* What a rank keeps of a round, in ns. */
enum overlap_plenty_quantity {
    OVERLAP_PLENTY_BLOCKING, /* the blocking counterpart */
    OVERLAP_PLENTY_BESIDE,   /* start and finish around plenty of work, and the calls between its
                                parts, without the work */
    OVERLAP_PLENTY_INSIDE,   /* the time that this work took there */
    OVERLAP_PLENTY_ALONE,    /* ... and alone */
    OVERLAP_PLENTY_QUANTITIES
};

/* What is estimated, in ns: on a rank from its rounds; over ranks as the max of each; and what a
   visit says. */
enum overlap_gain_estimated {
    OVERLAP_GAIN_BLOCKING,
    OVERLAP_GAIN_EXPOSED,
    OVERLAP_GAIN_MEDIAN_EXPOSED, /* by the median of what the library takes from the work */
    OVERLAP_GAIN_ESTIMATED
};

/* Writes a rank's estimates from rounds `first` to `end` - 1 of its times; at least one round. Ends
   the job without memory. */
void overlap_gain_own(const struct bc_samples *own, size_t first, size_t end,
                      double estimates_ns[OVERLAP_GAIN_ESTIMATED]);

/* What a row says. Times in ns; NAN without the blocking counterpart. */
struct overlap_gain {
    struct bc_summary blocking, exposed;
    struct bc_summary gain;     /* blocking - exposed */
    struct bc_summary gain_pct; /* of blocking; NAN where that is too short for the clock */
};

/* The gain of what visits say (OVERLAP_GAIN_ESTIMATED quantities, at least one visit). `blocks`,
   parts of the first visit, make the interval where there is one visit. Intervals are widened by
   what both exposed times differ by, and end further out by calls_ns: what calls cost is known no
   better.
 */
struct overlap_gain overlap_gain_of_visits(const struct bc_samples *visits,
                                           const struct bc_samples *blocks, double calls_ns,
                                           double confidence);

/* What the interval of the gain in percent says with a threshold in percent: "pays" (all of it
   above the threshold), "loses" (all of it below - threshold), "even" (all of it between these), or
   "can't tell"; NULL without an interval. */
const char *overlap_verdict(const struct bc_summary *gain_pct, double threshold_pct);

#endif
