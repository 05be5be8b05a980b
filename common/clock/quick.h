/*
 * The quickest reading of the time stamp counter, for a caller of which readings are most of the
 * cost (monitor/ticks.h): unlike bc_source_ticks it is inline and doesn't wait for earlier
 * instructions.
 *
 * Code compiled with -DBC_LINKED_CLOCK calls bc_source_ticks instead, which tests replace
 * (source.h).
 */
#ifndef COMMCOST_COMMON_CLOCK_QUICK_H
#define COMMCOST_COMMON_CLOCK_QUICK_H

#include "common/clock/source.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(BC_LINKED_CLOCK)
#include <x86intrin.h>
#define BC_HAS_QUICK_TICKS 1
#else
#define BC_HAS_QUICK_TICKS 0
#endif

/* Reads the counter; call it only where bc_source_has_ticks(). Local. */
static inline uint64_t bc_quick_ticks(void)
{
#if BC_HAS_QUICK_TICKS
    return __rdtsc();
#else
    return bc_source_ticks();
#endif
}

#endif
