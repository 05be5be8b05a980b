/*
 * The clock of every measurement: nanoseconds since an arbitrary origin that differs from rank to
 * rank. Call bc_clock_select() once, before anything is timed. All functions are local.
 */
#pragma once

#include "common/clock/source.h"

#include <stdbool.h>
#include <stdint.h>

enum bc_clock_kind {
    BC_CLOCK_MONOTONIC, /* clock_gettime(CLOCK_MONOTONIC): the default */
    BC_CLOCK_TSC,       /* the time stamp counter, if its rate is constant in every power state */
    BC_CLOCK_WTIME      /* MPI_Wtime; needs MPI_Init */
};

struct bc_clock_cost {
    double read_ns;       /* what a pair of readings adds to the time between them */
    double resolution_ns; /* the smallest step above 0 that was seen */
};

/* Reads the clock in force; bc_clock_select() sets it. */
extern int64_t (*bc_clock_read)(void);

static inline int64_t bc_now_ns(void) { return bc_clock_read(); }

/* Puts a clock in force. False, with nothing changed, if this machine lacks it. Selecting the time
   stamp counter takes about 20 ms, to measure its rate against CLOCK_MONOTONIC. */
bool bc_clock_select(enum bc_clock_kind kind);

/* Measures the cost of the clock in force: the median over batches of readings; in about 1 ms. */
struct bc_clock_cost bc_clock_measure(void);

/* Seconds since an arbitrary origin, for time budgets, not for measuring. */
double bc_elapsed_s(void);

/* The share of time in which a rank is interrupted: by daemons, by devices, by the host of a
   virtual machine. The kernel's counters see nothing of a host's interruptions; a loop that reads
   the clock all the time does, as a gap between two readings. */
struct bc_stops {
    int64_t watched_ns; /* so far */
    int64_t lost_ns;    /* in gaps */
};

/* Reads the clock for about `seconds` and adds what it sees. A gap counts if it is longer than
   BC_STOP_NS and than ten of the steps between readings. Not for a timed region. Local. */
void bc_stops_watch(struct bc_stops *stops, double seconds);

#define BC_STOP_NS 500
