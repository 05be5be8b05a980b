/*
 * The clock of every measurement.
 *
 * One clock is in force at a time; bc_clock_select() is called once, before
 * anything is timed. Times are nanoseconds since an arbitrary origin that
 * differs from rank to rank: only differences on one rank mean anything.
 */
#ifndef COMMCOST_COMMON_CLOCK_CLOCK_H
#define COMMCOST_COMMON_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum bc_clock_kind {
    BC_CLOCK_MONOTONIC, /* clock_gettime(CLOCK_MONOTONIC): the default */
    BC_CLOCK_TSC,       /* the processor's time stamp counter, if invariant */
    BC_CLOCK_WTIME      /* MPI_Wtime; needs MPI_Init */
};

/* What reading the clock costs and how fine it is. */
struct bc_clock_cost {
    double read_ns;       /* from one reading to the next, back to back: what
                             a pair of readings adds to what lies between */
    double resolution_ns; /* the smallest step other than 0 that was seen */
};

/* The clock in force; set by bc_clock_select(). */
extern int64_t (*bc_clock_read)(void);

/* The time now on this rank, in nanoseconds. */
static inline int64_t bc_now_ns(void)
{
    return bc_clock_read();
}

/*
 * Puts a clock in force. Local. False, with nothing changed, if this machine
 * lacks it: the time stamp counter is taken only where the processor says that
 * it runs at a constant rate in every power state. Selecting it takes about
 * 20 ms, in which its rate is measured against CLOCK_MONOTONIC.
 */
bool bc_clock_select(enum bc_clock_kind kind);

/* Whether all processes of a node read the very same clock when they have this one in
   force, as far as nobody shifts it: the others have an origin or a rate that each
   process finds for itself. Local. */
bool bc_clock_is_of_the_node(void);

/* Measures the clock in force: the median over batches of readings. Local,
   takes about 1 ms. */
struct bc_clock_cost bc_clock_measure(void);

/* Seconds since an arbitrary origin, on a clock for budgets, not for measuring.
   Local. */
double bc_elapsed_s(void);

/* Leaves the processor for so many ns, less after a signal. Local. */
void bc_sleep_ns(int64_t ns);

#endif
