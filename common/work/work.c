/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/work/work.h"

#include "common/clock/clock.h"
#include "common/stats/stats.h"

static double time_work_ns(uint64_t units)
{
    const int64_t start_ns = bc_now_ns();
    bc_work(units);
    return (double)(bc_now_ns() - start_ns);
}

/* The calibration's two amounts of work: the longer one takes at least LONG_NS, and yet is seldom
   interrupted. On a machine with many interrupts, or a virtual one, a processor may do something
   else for a few us in every 100. */
#define LONG_NS 10e3
#define LONG_TO_SHORT 10

/* Returns the time of an uninterrupted run: the 25th percentile. Sorts the values. */
static double undisturbed(double *values, size_t count)
{
    bc_sort(values, count);
    return bc_quantile(values, count, 0.25);
}

struct bc_work_rate bc_work_calibrate(void)
{
    enum { REPEATS = 201 };
    double long_ns[REPEATS], short_ns[REPEATS];
    /* Enough units for the resolution of any clock. */
    uint64_t units = 1024;
    double first_ns = time_work_ns(units);
    while (first_ns < LONG_NS && units < UINT64_C(1) << 28) {
        if (units >= UINT64_C(1) << 20 && first_ns <= 0.0)
            return (struct bc_work_rate){0.0, 0.0}; /* time stands still */
        units *= 2;
        first_ns = time_work_ns(units);
    }
    const uint64_t fewer = units / LONG_TO_SHORT;
    for (int i = 0; i < REPEATS; i++) {
        short_ns[i] = time_work_ns(fewer);
        long_ns[i] = time_work_ns(units);
    }
    const double clock_ns = bc_clock_measure().read_ns;
    const double quick_short_ns = undisturbed(short_ns, REPEATS);
    const double quick_long_ns = undisturbed(long_ns, REPEATS);
    struct bc_work_rate rate;
    rate.ns_per_unit = (quick_long_ns - quick_short_ns) / (double)(units - fewer);
    rate.call_ns = quick_short_ns - clock_ns - rate.ns_per_unit * (double)fewer;
    return rate;
}
