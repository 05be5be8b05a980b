/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common clock of all ranks for times in ticks: rank 0's (common/sync_clock/global_clock.h).
 *
 * Clocks are compared in MPI_Init and when a report is made. In between, a clock is assumed to gain
 * evenly (Becker, Rabenseifner and Wolf, "Implications of Non-Constant Clock Drifts for the
 * Timestamps of Concurrent Events", CLUSTER 2008).
 */
#pragma once

#include "common/job/job.h"

#include <stdint.h>

/* Compares the clocks of all ranks. Returns the number of comparisons so far. Collective over
   MPI_COMM_WORLD, which `job` describes; it makes private communicators. */
int common_clock_compare(const struct bc_job *job);

/* Return rank 0's time in ns at `ticks` of this rank, the max error of that time, and the max
   error at the comparisons. Local. */
double common_clock_ns(uint64_t ticks);
double common_clock_error_ns(uint64_t ticks);
double common_clock_max_error_ns(void);
