/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows, and the one-sided operations in flight on them. A synchronisation ends the operations of
 * one target or of all targets.
 *
 * Operations of one kind on one target are held together, as a number and the sum of their starts,
 * so a million puts take no more room than one. If timeouts are counted, each operation is held
 * alone while there is room. All functions are local and take the monitor's lock, unless their
 * comment differs.
 */
#pragma once

#include "monitor/lib/count/operations.h"

#include <limits.h>

enum { EVERY_TARGET = INT_MIN }; /* neither a rank nor MPI_PROC_NULL */
enum { WINDOWS_MAX = 768 };      /* at a time; operations on further windows can't be followed */

void window_created(MPI_Win win, MPI_Comm comm);

/* Returns the number of a window's communicator: NULL_COMMUNICATOR for MPI_WIN_NULL,
   OTHER_COMMUNICATORS for an unknown window. */
int window_communicator(MPI_Win win);

/* Adds an operation in flight on this window and target. */
void window_add(MPI_Win win, int target, const struct operation *operation);

/* Notes an operation that its own request completes, or a local flush. */
void window_unsure(MPI_Win win);

/* Operations that a synchronisation ends. They are taken out before its call, so operations that
   other threads start meanwhile stay. */
struct ending {
    int window;          /* its number, or HANDLE_UNKNOWN */
    int communicator;    /* see window_communicator */
    int32_t first;       /* list of groups, see windows.c */
    uint32_t generation; /* windows_clear forgets endings of earlier generations */
    bool is_idle;        /* nothing went to the target since the last synchronisation there; false
                            while the monitor may have missed something: see window_unsure */
};

/* Takes out the operations of a target or of EVERY_TARGET. A local flush completes them only at
   their origin. */
struct ending window_take(MPI_Win win, int target, bool is_local);

/* Ends the operations, or puts them back if the synchronisation has returned an error. Each has an
   equal share of the time of `call`, which is NULL if the synchronisation is an operation itself.
   Returns true if it has ended any. */
bool ending_finish(const struct ending *ending, int error, const struct mpi_call *call,
                   uint64_t end_ticks);

/* Forgets the window of this handle and number, which has been freed. MPI may have given its
   handle to another thread already. */
void window_freed(MPI_Win win, int number);

/* Notes that operations that began unseen may be in flight on any window. Needs the lock. */
void windows_unsure(void);

/* Forgets all operations, but no windows. Needs the lock. */
void windows_clear(void);

/* Counts the open operations again, before a snapshot asks for depths. Needs the lock. */
void windows_count_depths(void);
