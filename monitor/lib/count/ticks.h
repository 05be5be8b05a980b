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

/* The quickest reading of the time stamp counter: unlike bc_source_ticks it is inline and doesn't
   wait for earlier instructions. With -DBC_LINKED_CLOCK it is bc_source_ticks, which tests replace
   (common/clock/source.h). */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(BC_LINKED_CLOCK)
#include <x86intrin.h>
#define QUICK_TICKS __rdtsc
#else
#define QUICK_TICKS bc_source_ticks
#endif

/* True if ticks are those of the time stamp counter. Set when the library is loaded. */
extern bool ticks_are_tsc;

static inline uint64_t ticks_now(void)
{
    if (__builtin_expect(ticks_are_tsc, 1))
        return QUICK_TICKS();
    return (uint64_t)bc_source_monotonic_ns();
}

/* Returns the nanoseconds per tick, measured since the library was loaded: the longer ago, the
   better. Waits until that is 10 ms ago. */
double ticks_ns(void);

/* Returns the cost of one reading, in ticks: a median, which the first call measures in 0.1 ms. */
uint64_t ticks_cost(void);

/* Returns the name of the clock, for reports. */
const char *ticks_clock(void);
