/*
 * The waiting of ranks for late ones, from the calls that each rank kept (late.h).
 *
 * Where each rank needs data of every other one, nobody leaves a collective before the last one has
 * come. So of the ranks' times in a call the shortest is that of the rank that came last: the
 * call's own cost; what a rank's time is longer is waiting. No clock is shared for that, but the
 * times of all ranks are in nanoseconds, since their ticks may differ. A call in which any rank
 * needs nothing of another one, as blocks are empty, tells no waiting: who needs nothing may leave
 * at once.
 *
 * A rooted collective may return before the other ranks have come, so times in it tell nothing.
 * With a clock that all ranks share (common_clock.h) the times of entry do: a rank has waited from
 * its own entry until the root's, or the root until that of the last of the others, but no longer
 * than until its call returned. That is waiting for those at whom the data starts: what a rank
 * waits for one that passes the data on, as trees of messages do, isn't in it.
 *
 * Ranks hand what they know up a binomial tree of all ranks, a series after the other by rising
 * key, until a rank has that of all of the communicator's processes; that one hands the result
 * back. Each rank sends and receives for a series of its own, and for those that it passes on, two
 * messages for each rank below it: no collectives, and no memory that grows with the ranks.
 *
 * The time of all calls together is known. Mostly waiting makes a call long, so the time of all
 * calls tells more of their waiting than the calls that were kept do alone: few long ones may be
 * among these or not (the regression estimator: W. G. Cochran, "Sampling Techniques", 3rd edition,
 * 1977, chapter 7).
 */
#pragma once

#include "monitor/lib/count/late.h"

#include <mpi.h>

/* A series of this rank that is compared with those of the communicator's other ranks. */
struct late_item {
    int64_t key; /* the same on all these ranks, of no other series, below INT64_MAX */
    int processes;
    const struct late_series *series;
    enum late_wait wait;
};

/* A mean over all calls of a series. */
struct late_mean {
    double mean;
    double error; /* standard error, for the calls that were not kept */
    double shift; /* by how much it differs from the mean of the calls that were kept */
};

/* Returns the mean waiting of a rank, from that in each of the calls that the series kept, in any
   unit, of which a tick has `tick`. The rank waits only where it has this part. Local. */
struct late_mean late_mean(const struct late_series *series, const double waited[],
                           enum late_part part, double tick);

/* The waiting of a rank in the calls of a series, in ns a call. */
struct late_waiting {
    bool is_known; /* false: not all ranks have kept the same calls, or in none all waited, or the
                      root is none of the ranks */
    double mean_ns;
    double lo_ns, hi_ns; /* means, too: as far as clocks or the ranks' leaving are known */
    double error_ns;     /* standard error of the mean, for the calls that were not kept */
    int64_t came_last;   /* calls in which this rank came last, of those that were kept */
    double files_share;  /* of the waiting in these: for ranks that came from files (inside.h) */
};

/*
 * Compares what ranks kept: fills in waiting[i] of items[i]. Items are by rising key; a rank has
 * those that it has. A tick of this rank is tick_ns long. For rooted series, clocks have to have
 * been compared. Ranks that leave a call at other times have the difference in their waiting, which
 * is known to no more than what the call takes by itself, the 5 % quantile of the shortest times.
 * Collective over `comm`, on which nobody else may send; not thread-safe.
 */
void late_compare(int count, const struct late_item items[], double tick_ns, MPI_Comm comm,
                  struct late_waiting waiting[]);
