/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timestamps of operations. A tick is that of the processor's time stamp counter if that is
 * invariant, since reading it takes half as long as clock_gettime. Elsewhere it is a nanosecond of
 * CLOCK_MONOTONIC. All functions are local.
 */
#pragma once

#include "common/clock/ticks.h"

#include <stdbool.h>
#include <stdint.h>

/* Quickest reading of the time stamp counter, inline and without waiting for earlier instructions.
   With -DBC_LINKED_CLOCK it is bc_source_ticks, which tests replace. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(BC_LINKED_CLOCK)
#include <x86intrin.h>
#define QUICK_TICKS __rdtsc
#else
#define QUICK_TICKS bc_source_ticks
#endif

extern bool ticks_are_tsc;

static inline uint64_t ticks_now(void)
{
    if (__builtin_expect(ticks_are_tsc, 1))
        return QUICK_TICKS();
    return (uint64_t)bc_source_monotonic_ns();
}

/* Returns the nanoseconds per tick, measured since the library was loaded. Waits until that is
   10 ms ago. */
double ticks_ns(void);

/* Returns the cost of one reading in ticks, a median. The first call takes 0.1 ms. */
uint64_t ticks_cost(void);

const char *ticks_clock(void);
