/* Iterations with one-sided communication: puts, or gets, in a window, by several threads. */
#pragma once

#include "msgrate/iterations.h"

/* ---- threads (team.c) ------------------------------------------------------------------------ */

/* A team of threads that call one function together, again and again. Between calls they spin (and
   yield), so that a call begins without a system call. All functions are local. */
struct msgrate_team;

/* Gets the context and the thread's number, 0 to threads - 1. */
typedef void msgrate_team_fn(const void *context, int thread);

/* Starts all threads but the calling one, number 0. Ends the job if a thread can't be started. */
struct msgrate_team *msgrate_team_create(int threads);

/* Calls `work` on every thread; returns when all calls have returned. */
void msgrate_team_run(struct msgrate_team *team, msgrate_team_fn *work, const void *context);

void msgrate_team_destroy(struct msgrate_team *team);

/* ---- patterns -------------------------------------------------------------------------------- */

/* The messages of each block that a thread transfers: first to end - 1. */
struct msgrate_share {
    int first, end;
};

/* This rank's part in the iterations of a pattern. */
struct msgrate_access {
    struct msgrate_messages messages;
    const int *targets; /* the ranks that this one accesses: `sends`, or, with gets, `receives` */
    msgrate_team_fn *transfer_share; /* msgrate_put_share or msgrate_get_share */
    struct msgrate_team *team;
    struct msgrate_share *shares; /* one a thread */
    MPI_Win window;
    MPI_Group target_group, origin_group; /* the targets, and the ranks that access this one */
    unsigned char *local_buffer;          /* what is put, or where gets go */
    MPI_Aint offset; /* in bytes, of this iteration's messages in every window */

    struct msgrate_bench *bench;
    const struct msgrate_rma_pattern *pattern;
    bool puts; /* else it gets */
    unsigned char *window_memory;
    int halves;        /* of the window: 2 with --check, since what is exposed ahead must not touch
                          what is still to be verified */
    int64_t iteration; /* from 0 on */
    int64_t wrong;     /* messages with wrong data on this rank so far */
};

/* Runs the timed part of an iteration; returns its time in ns. */
typedef int64_t msgrate_access_fn(const struct msgrate_access *access);

/* A pattern with a synchronisation (rma_kernel.c). */
struct msgrate_rma_pattern {
    const char *name;
    enum msgrate_sync sync;
    bool opens_ahead; /* targets are exposed before the iteration begins */
    bool locks_all;   /* one lock_all lasts from begin to end */
    bool one_partner; /* lower half to upper half; else all peers, both ways */
    /* On the lower and the upper half of the ranks, and without a partner. NULL: times nothing. */
    msgrate_access_fn *time_lower, *time_upper, *time_resting;
    /* Before the first iteration and after the last one, in no sample; NULL: nothing. */
    void (*begin)(const struct msgrate_access *access);
    void (*end)(const struct msgrate_access *access);
};

enum { MSGRATE_RMA_PATTERNS = 8 };
extern const struct msgrate_rma_pattern msgrate_rma_patterns[MSGRATE_RMA_PATTERNS];

/* Put, or get, a thread's share of an access's messages (timed). Local. */
msgrate_team_fn msgrate_put_share, msgrate_get_share;

/* One visit: measures a pattern within `seconds` (significant on rank 0), in a window made anew.
   Collective. */
void msgrate_access_visit(struct msgrate_bench *bench, const struct msgrate_rma_pattern *pattern,
                          double seconds, struct msgrate_row *row);
