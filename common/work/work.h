/*
 * Work that takes the processor a known time and that no compiler removes.
 *
 * Work is counted in units of one step, and its time is linear in units: a chain of multiply-adds,
 * each of which needs the result of the one before, so steps don't overlap, without memory. An
 * empty assembly statement in each step hides the value from the compiler, so the loop stays at any
 * optimisation level and with link-time optimisation.
 */
#pragma once

#include <stdint.h>

/* Does `units` units of work. The result depends on every step; callers may ignore it. Local. */
uint64_t bc_work(uint64_t units);

/* The time of work on this rank: ns = call_ns + units * ns_per_unit. */
struct bc_work_rate {
    double ns_per_unit;
    double call_ns; /* call and return; may be a little below 0 */
};

/* Measures the rate of work that nothing interrupts, from the quickest runs of two amounts, about 1
   and 10 µs, in about 10 ms. The clock must have been selected. Where time stands still while a
   program computes (on some simulators) both members are 0. Local. */
struct bc_work_rate bc_work_calibrate(void);

/* The units whose time is nearest to `ns`; 0 where that is less than one unit, or where no amount
   of work takes time. Local. */
static inline uint64_t bc_work_units(const struct bc_work_rate *rate, double ns)
{
    if (!(rate->ns_per_unit > 0.0))
        return 0;
    const double units = (ns - rate->call_ns) / rate->ns_per_unit;
    return units < 1.0 ? 0 : (uint64_t)(units + 0.5);
}

/* The time of `units` units in ns; 0 for none. Local. */
static inline double bc_work_ns(const struct bc_work_rate *rate, uint64_t units)
{
    return units == 0 ? 0.0 : rate->call_ns + rate->ns_per_unit * (double)units;
}
