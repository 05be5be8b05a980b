/*
 * Timestamps of operations.
 *
 * A tick is one of the processor's time stamp counter where that counter is invariant: reading it
 * takes about half as long as clock_gettime, and two readings are most of what the monitor costs.
 * Elsewhere a tick is a nanosecond of CLOCK_MONOTONIC. All functions are local.
 */
#pragma once

#include "common/clock/ticks.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether ticks are those of the time stamp counter. Set when the library is loaded. */
extern bool ticks_are_tsc;

static inline uint64_t ticks_now(void)
{
    if (__builtin_expect(ticks_are_tsc, 1))
        return bc_quick_ticks();
    return (uint64_t)bc_source_monotonic_ns();
}

/* Nanoseconds per tick, measured since the library was loaded: the longer ago, the better. Waits
   until that is 10 ms ago. */
double ticks_ns(void);

/* Cost of one reading, in ticks: a median, measured at the first call, which takes about 0.1 ms. */
uint64_t ticks_cost(void);

/* Name of the clock, for reports. */
const char *ticks_clock(void);
