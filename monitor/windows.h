/*
 * Windows, and the one-sided operations in flight on them, which a synchronisation ends, all of a
 * target or all.
 *
 * Operations of one kind on one target are held together as a number and the sum of their starts,
 * so a million puts take no more room than one. Threads may add them in another order than they
 * began in. Only where timeouts are counted each has its own start, as long as there is room.
 *
 * All functions are local and take the monitor's lock but where they say otherwise.
 */
#ifndef MONITOR_WINDOWS_H
#define MONITOR_WINDOWS_H

#include "snapshot.h"

#include <limits.h>
#include <mpi.h>

enum { EVERY_TARGET = INT_MIN }; /* which is no rank, nor MPI_PROC_NULL */

void window_created(MPI_Win win, MPI_Comm comm);

/* The number of a window, or HANDLE_UNKNOWN. */
int window_number(MPI_Win win);

/* The window of this handle and number has been freed: the handle may come again, and may have done
   so already in another thread. */
void window_freed(MPI_Win win, int number);

/* The number of a window's communicator. */
int window_communicator(MPI_Win win);

/* An operation on this window and target is in flight. */
void window_add(MPI_Win win, int target, const struct operation *operation);

/* Operations that a synchronisation ends: taken out before it is called, so that those which other
   threads start meanwhile stay. */
struct ending {
    int32_t first;       /* a list, see windows.c */
    uint32_t generation; /* what it was taken of; windows_clear forgets it, too */
};
struct ending window_take(MPI_Win win, int target);
void ending_end(struct ending ending, uint64_t end_ticks);

/* The synchronisation failed: they are still in flight. */
void ending_cancel(struct ending ending);

/* Forgets all operations, not the windows. The caller has the lock. */
void windows_clear(void);

#endif
