/*
 * Windows, and the one-sided operations in flight on them. A synchronisation ends the operations of
 * one target or of all targets.
 *
 * Operations of one kind on one target are held together, as a number and the sum of their starts,
 * so a million puts take no more room than one. Only where timeouts are counted each operation is
 * held alone, while there is room. Threads may add operations in another order than they began in.
 * All functions are local and take the monitor's lock, unless they say otherwise.
 */
#pragma once

#include "monitor/lib/count/operations.h"

#include <limits.h>

enum { EVERY_TARGET = INT_MIN }; /* no rank, nor MPI_PROC_NULL */
enum { WINDOWS_MAX = 768 };      /* at a time; operations on more can't be followed */

void window_created(MPI_Win win, MPI_Comm comm);

/* Returns the number of a window's communicator: NULL_COMMUNICATOR of MPI_WIN_NULL,
   OTHER_COMMUNICATORS if the window is unknown. */
int window_communicator(MPI_Win win);

/* Adds an operation in flight on this window and target. */
void window_add(MPI_Win win, int target, const struct operation *operation);

/* Notes an operation that its own request completes, and a flush only at the target. */
void window_unsure(MPI_Win win);

/* The operations that a synchronisation ends. They are taken out before its call, so that those
   which other threads start meanwhile stay. */
struct ending {
    int window;          /* its number, or HANDLE_UNKNOWN */
    int communicator;    /* see window_communicator */
    int32_t first;       /* list of groups, see windows.c */
    uint32_t generation; /* windows_clear forgets endings of earlier generations */
    bool is_idle; /* nothing to complete: nothing went to the target since the last synchronisation
                     that completes it there. Where the monitor doesn't know that, false: after
                     operations with requests, after local flushes, where it had no room, and after
                     a snapshot has started, until all targets are flushed */
};

/* Takes them out, those of a target or of EVERY_TARGET. A local flush completes them only at their
   origin. */
struct ending window_take(MPI_Win win, int target, bool is_local);

/* The synchronisation has returned `error`: the operations have ended, or are still in flight. Each
   that has ended gets an equal share of the time of `call`; NULL: the synchronisation is an
   operation itself. Returns whether it has ended any. */
bool ending_finish(const struct ending *ending, int error, const struct mpi_call *call,
                   uint64_t end_ticks);

/* Forgets the window of this handle and number, that of its ending, which has been freed. MPI may
   have given the handle out again already, to another thread. */
void window_freed(MPI_Win win, int number);

/* Notes that operations may be in flight on any window, which began before anybody asked. The
   caller has the lock. */
void windows_unsure(void);

/* Forgets all operations, but no windows. The caller has the lock. */
void windows_clear(void);
