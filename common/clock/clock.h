/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of every measurement: nanoseconds since an arbitrary origin that differs from rank to
 * rank. Call bc_clock_select first. All functions are local.
 */
#pragma once

#include "common/clock/source.h"

enum bc_clock_kind {
    BC_CLOCK_MONOTONIC, /* clock_gettime(CLOCK_MONOTONIC): the default */
    BC_CLOCK_TSC,       /* the time stamp counter */
    BC_CLOCK_WTIME      /* MPI_Wtime; needs MPI_Init */
};

struct bc_clock_cost {
    double read_ns;       /* time that a pair of readings adds to the interval between them */
    double resolution_ns; /* smallest step above 0 that was seen */
};

/* Reads the selected clock. */
extern int64_t (*bc_clock_read)(void);

static inline int64_t bc_now_ns(void) { return bc_clock_read(); }

/* Selects a clock; measures the rate of the time stamp counter for 20 ms. Returns false and changes
   nothing if this machine lacks the clock. */
bool bc_clock_select(enum bc_clock_kind kind);

/* Measures the cost of the selected clock in about 1 ms, as the median over batches of readings. */
struct bc_clock_cost bc_clock_measure(void);

/* Returns seconds since an arbitrary origin, for time budgets, not for measuring. */
double bc_elapsed_s(void);
