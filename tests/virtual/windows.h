/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What windows.c and transfers.c share: a window as ranks know it, and the operations on it that a
 * rank has posted. All functions are local.
 */
#ifndef VIRTUAL_WINDOWS_H
#define VIRTUAL_WINDOWS_H

#include "tests/virtual/virtual_mpi.h"

#include <sys/types.h>

struct transfer; /* of transfers.c */

/* A member's part of a window. */
struct exposed {
    char *base;
    int64_t bytes;
    int unit; /* of displacements */
    pid_t process;
    bool shared;   /* memory that all ranks see */
    bool stale;    /* what is put there comes too late (data_is_stale) */
    int exclusive; /* the member that holds an exclusive lock + 1 */
    int sharers;
    int64_t free_ns; /* when a lock was given up last */
};

/* State between two members, by target and origin. */
struct pair {
    int posted, completed;
    int64_t posted_ns, completed_ns;
    bool waits; /* the origin, for the target's lock, exclusive if so */
    bool exclusive;
    int64_t asked_ns;
};

/* In shared memory. */
struct window {
    struct comm *comm;
    struct exposed *of;
    struct pair *pairs;
    int users;
};

/* A window as this rank knows it. */
struct own_window {
    MPI_Win handle;
    struct window *window;
    struct own_comm own;
    MPI_Comm comm;
    struct transfer **transfers; /* in the order of their posts */
    int count;
    int *started, started_count; /* targets of an access epoch */
    int *exposed, exposed_count; /* origins of an exposure epoch */
};

/* Ends the job where there is none. */
struct own_window *window_find(MPI_Win handle);

/* Completes the transfers to a target, or to every one; they take effect in their order. */
enum { EVERY_TARGET = -1, NO_TARGET = -2 };
void transfers_complete(struct own_window *own, int target);

/* Forgets the transfers that are done, except those whose requests their callers have. */
void transfers_forget_done(struct own_window *own);

#endif
