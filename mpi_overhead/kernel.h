/*
 * The timed loops of the post-work-wait method.
 *
 * Ranks work in pairs: one measures, its partner does the other end of the
 * message. In each loop an iteration ends with a barrier of the two, so that no
 * message starts before the last one has arrived; loops with and without a
 * message have it alike, and it cancels in their difference.
 *
 * It cancels only where it costs the same in both. Behind the knee the partner has
 * long gone on to the barrier, and in a shared queue its part of the barrier lies
 * right behind the message: the wait for the message takes it in, too, and the
 * barrier costs less than without a message, by as much as the overhead of a small
 * one. So the measuring rank sends its partner a token, a message of no bytes,
 * before it enters the barrier, and the partner waits for that first: nothing but
 * the message can be there to be waited for. Loops with and without a message have
 * the token alike.
 *
 * Only the loops that give the overhead have it. Without work it would go on its
 * way together with the message and hide a part of the transfer time, or let one
 * end leave the barrier well before the other.
 */
#ifndef COMMCOST_MPI_OVERHEAD_KERNEL_H
#define COMMCOST_MPI_OVERHEAD_KERNEL_H

#include "common/mpi/large_count.h"
#include "common/stats/sampling.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum overhead_direction { OVERHEAD_SEND, OVERHEAD_RECEIVE };

/* One end of a message, on every rank. */
struct overhead_exchange {
    enum overhead_direction direction; /* what the measuring rank does */
    bool measures;                     /* this rank measures; else it is a partner */
    bool reports;                      /* its times are the samples; at least one rank's are */
    bool token;                        /* the overhead is measured with a token */
    MPI_Comm pair;                     /* the two ranks: 0 measures, 1 is the partner */
    int peer;                          /* the other one's rank in it */
    int64_t bytes;                     /* of the message */
    struct bc_amount message;          /* these, as MPI takes them */
    unsigned char *buffer;
    bool check;       /* verify the data of each message */
    int64_t messages; /* prepared so far, the same on both ranks */
    int64_t wrong;    /* messages that arrived wrong on this rank */
};

/* The quantities of a round, in nanoseconds an iteration. */
enum overhead_quantity {
    OVERHEAD_BASE,  /* post and wait, no work */
    OVERHEAD_EMPTY, /* neither message nor work: the barrier */
    OVERHEAD_ITER,  /* post, work, wait; with the token, if any */
    OVERHEAD_WORK,  /* the work, without a message; likewise */
    OVERHEAD_QUANTITIES
};

struct overhead_round {
    struct overhead_exchange *exchange;
    uint64_t units;     /* of work */
    int64_t iterations; /* in each loop */
};

/* A source of all four quantities, or of the last two alone (as 0 and 1). */
struct bc_source overhead_full_source(struct overhead_round *round);
struct bc_source overhead_work_source(struct overhead_round *round);

/* Fills the buffer with the next message, or with what no message is. On both
   ranks of a pair. */
void overhead_prepare_data(struct overhead_exchange *exchange);

#endif
