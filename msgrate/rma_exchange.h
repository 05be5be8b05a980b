/* Iterations with one-sided communication: puts, or gets, in a window, by several threads. */
#pragma once

#include "msgrate/bench.h"

#include <pthread.h>

/* A thread, and the messages of each block that it transfers: first to end - 1. */
struct msgrate_thread {
    struct msgrate_rma_exchange *exchange;
    int first, end;
    pthread_t thread; /* of all but the first one, which is the caller */
};

typedef void msgrate_step_fn(const struct msgrate_rma_exchange *exchange);

/* A rank's steps in an iteration: all of them are timed. `open` is NULL on a rank that takes no
   part. */
struct msgrate_steps {
    msgrate_step_fn *open, *transfer, *close;
};

/* This rank's part in the iterations of a pattern. */
struct msgrate_rma_exchange {
    struct msgrate_messages messages;
    const int *targets; /* the ranks that this one accesses: `sends`, or, with gets, `receives` */
    void (*transfer_share)(const struct msgrate_thread *thread); /* msgrate_put_share or _get_ */
    struct msgrate_team *team;
    MPI_Win window;
    MPI_Group target_group, origin_group; /* the targets, and the ranks that access this one */
    unsigned char *local_buffer;          /* what is put, or where gets go */
    MPI_Aint offset; /* in bytes, of this iteration's messages in every window */

    struct msgrate_bench *bench;
    const struct msgrate_rma_pattern *pattern;
    const struct msgrate_steps *steps; /* those of the pattern for this rank */
    bool puts;                         /* else it gets */
    unsigned char *window_memory;
    int halves;        /* of the window: 2 with --check, since what is exposed ahead must not touch
                          what is still to be verified */
    int64_t iteration; /* from 0 on */
};

/* A pattern with a synchronisation (rma_kernel.c). */
struct msgrate_rma_pattern {
    const char *name;
    enum msgrate_sync sync;
    bool opens_ahead; /* targets are exposed before the iteration begins */
    bool locks_all;   /* one lock_all lasts from begin to end */
    bool one_partner; /* lower half to upper half; else all peers, both ways */
    /* With one partner on the lower and the upper half of the ranks, and without a partner; else
       the first on all ranks. */
    struct msgrate_steps lower, upper, resting;
    /* Called before the first iteration and after the last one, in no sample; NULL: nothing. */
    msgrate_step_fn *begin, *end;
};

enum { MSGRATE_RMA_PATTERNS = 8 };
extern const struct msgrate_rma_pattern msgrate_rma_patterns[MSGRATE_RMA_PATTERNS];

/* Times the steps of an iteration, of a rank that takes part (rma_kernel.c). */
struct bc_span msgrate_time_steps(const struct msgrate_rma_exchange *exchange);

/* Put, or get, a thread's share of an exchange's messages (timed). Local. */
void msgrate_put_share(const struct msgrate_thread *thread);
void msgrate_get_share(const struct msgrate_thread *thread);

/* Transfers all messages, each thread its share; returns when all threads have (timed). Local. */
void msgrate_transfer(const struct msgrate_rma_exchange *exchange);

/* Creates a pattern's accesses of messages of `size_bytes`, with a new window. Collective over
   MPI_COMM_WORLD, as the functions below. */
void msgrate_rma_exchange_create(struct msgrate_rma_exchange *exchange, struct msgrate_bench *bench,
                                 const struct msgrate_rma_pattern *pattern, int64_t size_bytes);
void msgrate_rma_exchange_destroy(struct msgrate_rma_exchange *exchange);

/* Flushes the caches, writes the data to be transferred, and meets all ranks in a barrier. */
void msgrate_rma_exchange_prepare(struct msgrate_rma_exchange *exchange);

/* Ends an iteration; returns the number of messages with wrong data on this rank (--check). */
int64_t msgrate_rma_exchange_finish(struct msgrate_rma_exchange *exchange);
