/*
 * Timestamps of operations.
 *
 * A tick is one of the processor's time stamp counter where that counter is invariant: reading it
 * takes about half as long as clock_gettime, and two readings are most of what the monitor costs.
 * Elsewhere a tick is a nanosecond of CLOCK_MONOTONIC. All functions are local.
 */
#ifndef COMMCOST_MONITOR_TICKS_H
#define COMMCOST_MONITOR_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A build may do without the counter: -DHAVE_TSC=0. */
#ifndef HAVE_TSC
#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_TSC 1
#else
#define HAVE_TSC 0
#endif
#endif

#if HAVE_TSC
#include <x86intrin.h>
#endif

/* Whether ticks are those of the time stamp counter. Set when the library is loaded. */
extern bool ticks_are_tsc;

static inline uint64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t ticks_now(void)
{
#if HAVE_TSC
    if (__builtin_expect(ticks_are_tsc, 1))
        return __rdtsc();
#endif
    return monotonic_ns();
}

/* Nanoseconds per tick, measured since the library was loaded: the longer ago, the better. Waits
   until that is 10 ms ago. */
double ticks_ns(void);

/* Cost of one reading, in ticks: a median, measured at the first call, which takes about 0.1 ms. */
uint64_t ticks_cost(void);

/* Name of the clock, for reports. */
const char *ticks_clock(void);

#endif
