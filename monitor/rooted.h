/*
 * Late processes in rooted collectives: what ranks wait for the root in MPI_Bcast and MPI_Scatter,
 * and the root for the others in MPI_Gather and MPI_Reduce.
 *
 * Such a call may return before the other ranks have come, so times in it tell nothing. With a
 * clock that all ranks share (common_clock.h) the times of entry do: a rank has waited from its own
 * entry until the root's, or the root until that of the last of the others, but no longer than
 * until its call returned. Calls are kept as in late.h. A rank whose block is empty neither waits
 * nor is waited for.
 *
 * That is waiting for those at whom the data starts. What a rank waits for one that passes the data
 * on, as trees of messages do, isn't in it.
 */
#ifndef COMMCOST_MONITOR_ROOTED_H
#define COMMCOST_MONITOR_ROOTED_H

#include "monitor/common_clock.h"
#include "monitor/late.h"

/* The same as late_compare for rooted series, in which either the root waits or the others do.
   `clock` is this rank's. Nothing is known without the root's entries either. Collective in the
   same way. */
void rooted_compare(int count, const struct late_item items[], const struct common_clock *clock,
                    MPI_Comm comm, struct late_waiting waiting[]);

#endif
