/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations with one-sided communication: puts or gets in a window, by one or more threads. */
#pragma once

#include "msgrate/bench.h"

#include <pthread.h>

/* A thread, which transfers messages first to end - 1 of each block. */
struct msgrate_thread {
    struct msgrate_rma_exchange *exchange;
    int first, end;
    pthread_t thread; /* not of the first one, which is the caller */
};

typedef void msgrate_step_fn(const struct msgrate_rma_exchange *exchange);

/* A rank's steps in an iteration, all timed. `open` is NULL on a rank that takes no part. */
struct msgrate_steps {
    msgrate_step_fn *open, *transfer, *close;
};

/* This rank's part in the iterations of a pattern. */
struct msgrate_rma_exchange {
    struct msgrate_messages messages;
    const int *targets; /* ranks that this one accesses: `sends`, or with gets `receives` */
    void (*transfer_share)(const struct msgrate_thread *thread); /* msgrate_put_share or _get_ */
    struct msgrate_team *team;
    MPI_Win window;
    MPI_Group target_group, origin_group; /* of targets; of ranks that access this one */
    unsigned char *local_buffer;          /* source of puts, or destination of gets */
    MPI_Aint offset; /* of this iteration's messages in every window, in bytes */

    struct msgrate_bench *bench;
    const struct msgrate_rma_pattern *pattern;
    const struct msgrate_steps *steps; /* steps of the pattern for this rank */
    bool puts;                         /* false for gets */
    unsigned char *window_memory;
    int halves;        /* of the window: 2 with --check, since transfers exposed ahead must not
                          overwrite data still to be verified; otherwise 1 */
    int64_t iteration; /* number, from 0 on */
};

/* A pattern with a synchronisation (rma_kernel.c). */
struct msgrate_rma_pattern {
    const char *name;
    enum msgrate_sync sync;
    bool opens_ahead; /* targets are exposed before the iteration begins */
    bool locks_all;   /* holds one lock_all from begin to end */
    bool one_partner; /* lower half to upper half; otherwise all peers, both ways */
    /* With one partner: for the lower half, the upper half, and a rank without a partner. Otherwise
       `lower` is for all ranks. */
    struct msgrate_steps lower, upper, resting;
    /* Called before the first iteration and after the last one, untimed, unless NULL. */
    msgrate_step_fn *begin, *end;
};

enum { MSGRATE_RMA_PATTERNS = 8 };
extern const struct msgrate_rma_pattern msgrate_rma_patterns[MSGRATE_RMA_PATTERNS];

/* Times the steps of an iteration on a rank that takes part (rma_kernel.c). */
struct bc_span msgrate_time_steps(const struct msgrate_rma_exchange *exchange);

/* Put or get a thread's share of an exchange's messages (timed). Local. */
void msgrate_put_share(const struct msgrate_thread *thread);
void msgrate_get_share(const struct msgrate_thread *thread);

/* Transfers all messages, each thread its share, and waits for all threads (timed). Local. */
void msgrate_transfer(const struct msgrate_rma_exchange *exchange);

/* Creates an exchange of messages of `size_bytes`, with a new window. Collective over
   MPI_COMM_WORLD, like the functions below. */
void msgrate_rma_exchange_create(struct msgrate_rma_exchange *exchange, struct msgrate_bench *bench,
                                 const struct msgrate_rma_pattern *pattern, int64_t size_bytes);
void msgrate_rma_exchange_destroy(struct msgrate_rma_exchange *exchange);

/* Flushes the caches, writes the data to be transferred, and enters a barrier. */
void msgrate_rma_exchange_prepare(struct msgrate_rma_exchange *exchange);

/* Ends an iteration. Returns the number of messages with wrong data on this rank (--check). */
int64_t msgrate_rma_exchange_finish(struct msgrate_rma_exchange *exchange);
