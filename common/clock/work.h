/*
 * Work that takes the processor a known time and that no compiler removes.
 *
 * The work is a chain of multiply-add steps, each of which needs the result of
 * the one before, so that it neither overlaps with itself nor uses memory. It
 * is counted in units, one step each; time is linear in units. An empty
 * assembly statement in each step hides the value from the compiler, so the
 * loop stays at any optimisation level and with link-time optimisation.
 */
#ifndef COMMCOST_COMMON_CLOCK_WORK_H
#define COMMCOST_COMMON_CLOCK_WORK_H

#include <stdint.h>

/* How long work takes on this rank: ns = call_ns + units * ns_per_unit. */
struct bc_work_rate {
    double ns_per_unit;
    double call_ns; /* of the call and its return; may be a little below 0 */
};

/* Works for so many units. Local. The result depends on every step and is of
   no other use; it may be ignored. */
uint64_t bc_work(uint64_t units);

/* Measures the rate of work that nothing interrupts: quick ones of two amounts, about
   1 and 10 µs, in turn. Local, takes about 10 ms; the clock must have been selected. Where time
   stands still while a program computes (on some simulators) the rate is 0. */
struct bc_work_rate bc_work_calibrate(void);

/* The units that take nearest to so many nanoseconds; 0 for less than one. */
uint64_t bc_work_units(const struct bc_work_rate *rate, double ns);

/* The nanoseconds that so many units take. */
double bc_work_ns(const struct bc_work_rate *rate, uint64_t units);

#endif
