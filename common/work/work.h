/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that takes the processor a known time and that no compiler removes.
 *
 * A unit is one step of a chain of multiply-adds, each of which needs the result before it: steps
 * don't overlap, use no memory, and their time is linear. An empty assembly statement in each step
 * hides the value from the compiler, at any optimisation level and with link-time optimisation.
 * All functions are local.
 */
#pragma once

#include <stdint.h>

/* Does `units` units of work. The result depends on every step; callers may ignore it. */
uint64_t bc_work(uint64_t units);

/* The time of work on this rank: ns = call_ns + units * ns_per_unit. */
struct bc_work_rate {
    double ns_per_unit;
    double call_ns; /* call and return; may be a little below 0 */
};

/* Measures the rate of uninterrupted work, from the quickest runs of two amounts, about 1 and 10
   µs, in about 10 ms. Both members are 0 if time stands still during work, as on some simulators.
 */
struct bc_work_rate bc_work_calibrate(void);

/* Returns the units whose time is nearest to `ns`; 0 below one unit, and if work takes no time. */
static inline uint64_t bc_work_units(const struct bc_work_rate *rate, double ns)
{
    if (!(rate->ns_per_unit > 0.0))
        return 0;
    const double units = (ns - rate->call_ns) / rate->ns_per_unit;
    return units < 1.0 ? 0 : (uint64_t)(units + 0.5);
}

/* Returns the time of `units` units in ns; 0 for none. */
static inline double bc_work_ns(const struct bc_work_rate *rate, uint64_t units)
{
    return units == 0 ? 0.0 : rate->call_ns + rate->ns_per_unit * (double)units;
}
