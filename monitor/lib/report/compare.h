/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for late ranks, from the calls that each rank kept (late.h).
 *
 * In a collective in which each rank needs data of every other one, nobody leaves before the last
 * one has come. The shortest time of a call is that of the last rank: the call's own cost. The
 * excess of the other ranks' times is waiting. No clock is shared, but times are in nanoseconds,
 * since ticks may differ. A call with empty blocks is left out, since its ranks may leave early.
 *
 * A rooted collective may return before the other ranks have come, so its times don't show waiting.
 * With a common clock (common_clock.h) the times of entry do. A rank has waited from its entry
 * until the root's, or the root until the last of the others', but not beyond its return. Waiting
 * for a rank that passes the data on isn't included.
 *
 * Ranks send their series up a binomial tree of all ranks, in ascending order of key, until one
 * rank has the series of all processes of the communicator. That rank sends the result back. A rank
 * sends and receives two messages per rank below it and series. Memory doesn't grow with P.
 *
 * The time of all calls is known, and waiting is most of what makes calls long. So the mean over
 * all calls uses it (regression estimator: W. G. Cochran, "Sampling Techniques", 3rd edition, 1977,
 * chapter 7).
 */
#pragma once

#include "monitor/lib/count/late.h"

#include <mpi.h>

/* Series of this rank that is compared with those of the communicator's other ranks. */
struct late_item {
    int64_t key; /* the same on all these ranks, and unique; below INT64_MAX */
    int processes;
    const struct late_series *series;
    enum late_wait wait;
    double *site_waited_s; /* by number of a call site: gets this rank's waiting there; or NULL */
};

/* Mean over all calls of a series. */
struct late_mean {
    double mean;
    double error; /* standard error, since not all calls were kept */
    double shift; /* difference from the mean of the kept calls */
};

/* Returns the mean waiting of a rank, from that in each kept call, in any unit; a tick has `tick`
   units. The rank waits only in calls in which it has this part. Local. */
struct late_mean late_mean(const struct late_series *series, const double waited[],
                           enum late_part part, double tick);

/* Waiting of a rank in the calls of a series, in ns per call. */
struct late_waiting {
    bool is_known; /* false: not all ranks have kept the same calls, or there is no call in which
                      all waited, or the root is none of the ranks */
    double mean_ns;
    double lo_ns, hi_ns; /* bounds of the mean, from errors of clocks or ranks' leaving */
    double error_ns;     /* standard error of the mean, since not all calls were kept */
    int64_t came_last;   /* number of kept calls in which this rank came last */
    double files_share;  /* its share of waiting for ranks that came from files (inside.h) */
};

/*
 * Compares the kept calls of all ranks and sets waiting[i] of items[i], which are in ascending
 * order of key. A tick of this rank is tick_ns long. Rooted series need a common clock. Ranks may
 * leave a call at different times, so waiting is known to the 5 % quantile of the shortest times.
 * Collective over `comm`, on which nobody else may send; not thread-safe.
 */
void late_compare(int count, const struct late_item items[], double tick_ns, MPI_Comm comm,
                  struct late_waiting waiting[]);
