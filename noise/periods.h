/*
 * Which stops of a rank are periodic: timer ticks, daemons that run once a second.
 *
 * Stops of about the same length (within a factor of 4; rare ones also within 1.4) are searched
 * together, the longest first. At each frequency the H test compares their phases with those of
 * random stops (spectrum.h). A peak must also look like a clock, since stops may come in bursts, or
 * more often at some times: most periods have a stop within a tenth of the period, and just before
 * and after that there are hardly more stops than at other times.
 *
 * Sources: de Jager, Swanepoel and Raubenheimer, "A Powerful Test for Weak Periodic Signals with
 * Unknown Light Curve Shape in Sparse Data", Astronomy and Astrophysics 221 (1989); its chance of
 * being exceeded, exp(-0.4 H): de Jager and Büsching, the same 517 (2010).
 */
#pragma once

#include "common/stats/stats.h"
#include "noise/rank_stops.h"

#include <stdbool.h>

/* Max number of periods of a rank. */
enum { NOISE_PERIODS_MAX = 16 };

struct noise_period {
    double period_ns;
    struct bc_interval interval_ns; /* of the period */
};

/* Of a stop that isn't periodic. */
enum { NOISE_NO_PERIOD = -1 };

/* Whether two periods differ by less than their intervals, or by very little. Local. */
bool noise_is_same_period(const struct noise_period *a, const struct noise_period *b);

/* Finds periodic stops, and returns the number of their periods: found[0] to found[result - 1].
   source[i] becomes the index of the period of stop i, or NOISE_NO_PERIOD. Several stops in each
   period are one source if their mean lengths differ by less than a factor of two, since a daemon
   may run in steps. `alpha` is the probability that anything is found among random stops;
   `confidence` is of the intervals. Takes up to a few seconds. Local; without
   memory the job ends. */
int noise_periods_find(const struct noise_stops *stops, double alpha, double confidence,
                       struct noise_period found[NOISE_PERIODS_MAX], signed char *source);
