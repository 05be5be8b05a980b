/*
 * A clock that all ranks share: rank 0's, which each rank computes from its own.
 *
 * Pairs of ranks compare their clocks by messages that carry the time at which they were sent. What
 * arrives seems to have taken its delay plus what the receiver's clock is ahead. No delay is
 * negative, so the min of what messages seem to take in each direction bounds from both sides how
 * far one clock is ahead: the middle is taken, and half the sum of both (half of a round trip) is
 * the max by which that can be wrong. The ranks begin in turn and make the same calls, so that
 * both directions take about the same time.
 *
 * The pairs are those of the trees of common/sync_clock/pairs.h; what is known along the way to
 * rank 0 adds up. Ranks of a node mostly read one clock: that is assumed where the messages don't
 * contradict it.
 *
 * Clocks are compared in MPI_Init and when a report is made. Between that, a clock is taken to gain
 * evenly; its error grows with the distance from both, for its rate may change.
 *
 * Sources: as in common/sync_clock/global_clock.h and clock_model.h, whose trees and chains these
 * are: Hunold and Carpen-Amarie, CLUSTER 2018; the bounds of both directions: Mills, RFC 5905; two
 * offsets and a line between: Becker, Rabenseifner and Wolf, "Implications of Non-Constant Clock
 * Drifts for the Timestamps of Concurrent Events", CLUSTER 2008.
 */
#pragma once

#include "common/sync_clock/pairs.h"
#include "monitor/ticks.h"

#include <mpi.h>

/* This rank's clock against rank 0's. Times are this rank's, in ns since the first comparison. */
struct common_clock {
    double tick_ns;            /* length of a tick of this rank */
    int64_t first_ns, last_ns; /* comparisons, the same if there was one only */
    /* The errors are the max by which the model may be wrong at the first comparison and at the
       last, and `growth` is how much that grows in each ns of distance from the nearer of the two.
     */
    struct bc_known_clock known;
};

/* The errors of a known clock. */
enum { FIRST, LAST };

/* Compares the clocks of all ranks: the first comparison, and the latest one, are kept. Takes some
   hundred microseconds for each doubling of ranks, longer where ranks share processors. Collective
   over `comm`, with the same ranks each time; it uses communicators of its own. */
void common_clock_compare(MPI_Comm comm);

/* Compares them once more and fills in what is known of this rank's clock. Returns how many
   comparisons that rests on, 1 or 2. Collective in the same way. */
int common_clock_find(MPI_Comm comm, struct common_clock *clock);

/* Rank 0's time, in ns, when this rank's clock showed `ticks`, and the max by which that can be
   wrong. Local. */
double common_clock_ns(const struct common_clock *clock, uint64_t ticks);
double common_clock_error_ns(const struct common_clock *clock, uint64_t ticks);
