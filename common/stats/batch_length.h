/*
 * How many repetitions make a batch long against the clock, so that the cost and the resolution of
 * the clock don't show in the time of a repetition.
 */
#ifndef COMMCOST_COMMON_STATS_BATCH_LENGTH_H
#define COMMCOST_COMMON_STATS_BATCH_LENGTH_H

#include "common/clock/clock.h"

#include <stdint.h>

/* The time that a batch should take, in ns: at least min_ns, and at least 100 readings of the
   clock. `cost` is the maximum over ranks where ranks must agree. Local. */
double bc_batch_ns(const struct bc_clock_cost *cost, double min_ns);

/* The repetitions that take batch_ns if one takes repetition_ns: rounded up, at most max. Local. */
int64_t bc_batch_repetitions(double batch_ns, double repetition_ns, int64_t max);

/* Returns the time of `repetitions` repetitions in ns. */
typedef double bc_repeat_fn(void *context, int64_t repetitions);

/* Doubles the repetitions, from `min` (at least 1) up to `max`, until they take batch_ns twice in a
   row, since once they may have been disturbed. If `repeat` is collective, it must return the same
   on all ranks; then this is collective, too, and returns the same on all ranks. */
int64_t bc_batch_double(int64_t min, int64_t max, double batch_ns, bc_repeat_fn *repeat,
                        void *context);

#endif
