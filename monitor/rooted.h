/*
 * Late processes in rooted collectives: what ranks wait for the root in MPI_Bcast and MPI_Scatter,
 * and the root for the others in MPI_Gather and MPI_Reduce.
 *
 * Such a call may return before the other ranks have come, so times in it tell nothing. With a
 * clock that all ranks share (common_clock.h) the times of entry do: a rank has waited from its own
 * entry until the root's, or the root until that of the last of the others, but no longer than
 * until its call returned. Calls are kept as in late.h.
 *
 * That is waiting for those at whom the data starts. What a rank waits for one that passes the data
 * on, as trees of messages do, isn't in it.
 */
#ifndef COMMCOST_MONITOR_ROOTED_H
#define COMMCOST_MONITOR_ROOTED_H

#include "monitor/common_clock.h"
#include "monitor/late.h"

/* What a rank waited in the calls of a series, in ns a call. */
struct rooted_waiting {
    double mean_ns;
    double lo_ns, hi_ns; /* means, too: as far as the clock is known */
    double error_ns;     /* standard error of the mean, for the calls that were not kept */
    int64_t calls;
    int64_t last; /* calls in which this rank came last, as the root or for the root, of those that
                     were kept */
    int ranks;    /* that have the series; if it isn't all of the communicator nothing is known */
};

/*
 * Compares the entries that the ranks of a communicator kept of a series of rooted calls, in which
 * either the root waits or the others do: `series` is NULL on ranks that don't have it, where
 * `root_waits` means nothing. `clock` is this rank's. Collective over `comm`, of which the
 * communicator's ranks are some; not thread-safe. False if the ranks have kept other calls: then
 * nothing can be said.
 */
bool rooted_compare(const struct late_series *series, bool root_waits,
                    const struct common_clock *clock, MPI_Comm comm,
                    struct rooted_waiting *waiting);

#endif
