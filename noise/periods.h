/*
 * Which stops of a rank come periodically: timer ticks, daemons that look after something once a
 * second.
 *
 * Stops of about the same length (within a factor of 4; rare ones within 1.4, too) are looked at
 * together, the longest first.
 * At each frequency that such stops may have, the H test tells whether their phases could be those
 * of stops which come at random: it looks at several harmonics, since stops are short against their
 * period; of stops that come in bursts it takes the first of each. What it finds must look like a
 * clock besides, since stops may also come in bursts that are further apart, or
 * oftener at some times: most periods have a stop within a tenth of the period, and hardly more
 * than elsewhere come just before and after that.
 *
 * Sources: de Jager, Swanepoel and Raubenheimer, "A Powerful Test for Weak Periodic Signals with
 * Unknown Light Curve Shape in Sparse Data", Astronomy and Astrophysics 221 (1989); its chance of
 * being exceeded, exp(-0.4 H): de Jager and Büsching, the same 517 (2010). What was watched has
 * gaps, whose own share of each harmonic is subtracted.
 */
#ifndef COMMCOST_NOISE_PERIODS_H
#define COMMCOST_NOISE_PERIODS_H

#include "common/stats/stats.h"
#include "noise/stops.h"

#include <stdbool.h>

/* Max number of periodic sources that are found of a rank. */
enum { NOISE_PERIODS_MAX = 16 };

struct noise_period {
    double period_ns;
    struct bc_interval interval_ns; /* of the period */
};

/* Of a stop that isn't periodic. */
enum { NOISE_NO_PERIOD = -1 };

/* Whether two periods differ by no more than is known of them. Local. */
bool noise_is_same_period(const struct noise_period *a, const struct noise_period *b);

/* Finds periodic stops, and returns how many periods they have: found[0] to found[result - 1], at
   most NOISE_PERIODS_MAX. source[i] is the index of the period of stop i, or NOISE_NO_PERIOD.
   Several stops in each period are one source if their mean lengths differ by less than a factor of
   two: who wakes up may do so in steps. `alpha` is the chance that anything is found
   among stops that come at random; `confidence` is of the intervals. Takes up to a few seconds.
   Local; without memory the job ends.
 */
int noise_periods_find(const struct noise_stops *stops, double alpha, double confidence,
                       struct noise_period found[NOISE_PERIODS_MAX], signed char *source);

#endif
