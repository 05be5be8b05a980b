/*
 * Ticks of a counter, and how long they are. All functions are local.
 */
#pragma once

#include "common/clock/source.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(BC_LINKED_CLOCK)
#include <x86intrin.h>
#define BC_HAS_QUICK_TICKS 1
#else
#define BC_HAS_QUICK_TICKS 0
#endif

/* The quickest reading of the time stamp counter, for a caller of which readings are most of the
   cost (monitor/ticks.h): unlike bc_source_ticks it is inline and doesn't wait for earlier
   instructions. Call it only where bc_source_has_ticks(). Code compiled with -DBC_LINKED_CLOCK
   calls bc_source_ticks instead, which tests replace (source.h). */
static inline uint64_t bc_quick_ticks(void)
{
#if BC_HAS_QUICK_TICKS
    return __rdtsc();
#else
    return bc_source_ticks();
#endif
}

/* One moment on both clocks. */
struct bc_moment {
    uint64_t ticks;
    int64_t monotonic_ns;
};

/* Reads both clocks, the ticks by `read`, several times and keeps the fastest reading, which no
   interrupt has disturbed. */
struct bc_moment bc_moment_now(uint64_t (*read)(void));

/* Nanoseconds a tick since `origin`: the longer ago, the better. Waits until that is min_ns ago. */
double bc_tick_ns(const struct bc_moment *origin, int64_t min_ns, uint64_t (*read)(void));
