/*
 * A clock that all ranks share: rank 0's, which each rank computes from its own. It is found as the
 * benchmarks find theirs (common/sync_clock/pairs.h), by the monitor's timestamps.
 *
 * Clocks are compared in MPI_Init and when a report is made. Between that, a clock is taken to gain
 * evenly; its error grows with the distance from both, for its rate may change (two offsets and a
 * line between: Becker, Rabenseifner and Wolf, "Implications of Non-Constant Clock Drifts for the
 * Timestamps of Concurrent Events", CLUSTER 2008). Ranks of a node mostly read one clock: that is
 * assumed where the messages don't contradict it.
 */
#pragma once

#include "common/sync_clock/pairs.h"
#include "monitor/ticks.h"

#include <mpi.h>

/* This rank's clock against rank 0's. Times are this rank's, in ns since it began to count. */
struct common_clock {
    double tick_ns;              /* length of a tick of this rank */
    int64_t first_ns, last_ns;   /* comparisons, the same if there was one only */
    struct bc_known_clock known; /* at the last one; the growth of its error but for what rates
                                    change between the comparisons */
};

/* Compares the clocks of all ranks: the first comparison and the later ones are kept. Takes some
   four milliseconds for each doubling of ranks, longer where ranks share processors. Collective
   over `comm`, with the same ranks each time; it uses communicators of its own. */
void common_clock_compare(MPI_Comm comm);

/* Compares them once more and fills in what is known of this rank's clock. Returns how many
   comparisons that rests on, 1 or 2 (2: or more). Collective in the same way. */
int common_clock_find(MPI_Comm comm, struct common_clock *clock);

/* Rank 0's time, in ns, when this rank's clock showed `ticks`, and the max by which that can be
   wrong. Local. */
double common_clock_ns(const struct common_clock *clock, uint64_t ticks);
double common_clock_error_ns(const struct common_clock *clock, uint64_t ticks);
