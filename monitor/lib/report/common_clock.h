/*
 * A clock that all ranks share (common/sync_clock/global_clock.h), for times in ticks: rank 0's.
 *
 * Clocks are compared in MPI_Init and when a report is made. Between that, a clock is taken to gain
 * evenly: two offsets and a line between (Becker, Rabenseifner and Wolf, "Implications of
 * Non-Constant Clock Drifts for the Timestamps of Concurrent Events", CLUSTER 2008).
 */
#pragma once

#include "common/job/job.h"

#include <stdint.h>

/* Compares the clocks of all ranks, in some milliseconds for each doubling of ranks, longer where
   ranks share processors. Returns how often they were compared so far. Collective over
   MPI_COMM_WORLD, which `job` describes; it uses communicators of its own. */
int common_clock_compare(const struct bc_job *job);

/* Return rank 0's time, in ns, when this rank's clock showed `ticks`, and the max by which that can
   be wrong; and the greatest such error of all moments at which clocks were compared. Local. */
double common_clock_ns(uint64_t ticks);
double common_clock_error_ns(uint64_t ticks);
double common_clock_max_error_ns(void);
