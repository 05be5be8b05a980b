/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/source.h"

#include <time.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_TSC
#include <cpuid.h>
#include <x86intrin.h>
#endif

int64_t bc_source_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef HAVE_TSC

/* CPUID leaf 0x80000007, EDX bit 8: the counter is invariant; 0x80000001, EDX bit 27: has rdtscp.
 */
bool bc_source_has_ticks(void)
{
    unsigned int a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8)))
        return false;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (d & (1u << 27));
}

/* rdtscp waits for all earlier instructions; the fence keeps later ones after it. */
uint64_t bc_source_ticks(void)
{
    unsigned int processor;
    const uint64_t ticks = __rdtscp(&processor);
    _mm_lfence();
    return ticks;
}

#else

bool bc_source_has_ticks(void) { return false; }

uint64_t bc_source_ticks(void) { return 0; }

#endif

bool bc_source_has_hardware(void) { return true; }

void bc_sleep_ns(int64_t ns)
{
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&pause, NULL);
}
