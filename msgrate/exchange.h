/* Iterations with two-sided communication. */
#pragma once

#include "msgrate/bench.h"

struct msgrate_exchange;

/* Sends and receives the messages of an iteration, or some of them. */
typedef void msgrate_exchange_fn(struct msgrate_exchange *exchange);

/* A pattern (kernel.c). */
struct msgrate_pattern {
    const char *name;
    bool one_partner;              /* lower half to upper half; else all peers, both ways */
    msgrate_exchange_fn *exchange; /* all of it is timed */
    /* Called before the first iteration and after the last one, in no sample. With a counterpart:
       before and after each, since receives that are posted ahead would get the counterpart's
       messages. NULL: nothing. */
    msgrate_exchange_fn *begin, *end;
};

/* This rank's part in the iterations of a pattern. */
struct msgrate_exchange {
    struct msgrate_messages messages;
    int64_t iteration; /* from 0 on */
    struct bc_buffer send;
    /* For even and odd iterations: two buffers with --check, since what is posted ahead must not
       touch what is still to be verified, and with --buffers=new; else one. */
    struct bc_buffer receive[2];
    int receive_count;     /* 1 or 2 */
    MPI_Request *requests; /* 2 x peers x messages */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */

    struct msgrate_bench *bench;
    const struct msgrate_pattern *pattern;
    /* Of a counterpart, whose buffers are pinned memory: the exchange from and to whose buffers it
       copies, if these need it; else NULL. */
    const struct msgrate_exchange *direct;
};

/* Returns the buffer into which the messages of an iteration go, 0: of the present one, 1: of the
 * next. */
static inline struct bc_buffer *msgrate_arriving(struct msgrate_exchange *exchange, int ahead)
{
    /* No division, since it is in the timed part. */
    return &exchange->receive[(exchange->iteration + ahead) & (exchange->receive_count - 1)];
}

/* True if this rank sends, or receives, in an iteration. */
static inline bool msgrate_sends(const struct msgrate_exchange *exchange)
{
    return !(exchange->pattern->one_partner && !exchange->bench->lower);
}
static inline bool msgrate_receives(const struct msgrate_exchange *exchange)
{
    return !(exchange->pattern->one_partner && exchange->bench->lower);
}

/* Returns the direct exchange's buffers that this one copies from, and to; NULL: none. */
static inline const struct bc_buffer *msgrate_copied_from(const struct msgrate_exchange *exchange)
{
    const struct msgrate_exchange *const direct = exchange->direct;
    return direct != NULL && bc_memory_needs_copy(direct->send.memory) ? &direct->send : NULL;
}
static inline const struct bc_buffer *msgrate_copied_to(const struct msgrate_exchange *exchange)
{
    const struct msgrate_exchange *const direct = exchange->direct;
    return direct != NULL && bc_memory_needs_copy(direct->receive[0].memory) ? &direct->receive[0]
                                                                             : NULL;
}

extern const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS];

/* Times an iteration, or a counterpart's (kernel.c). */
struct bc_span msgrate_time(struct msgrate_exchange *exchange);
struct bc_span msgrate_time_staged(struct msgrate_exchange *exchange);

/* Creates an exchange of messages of `size_bytes`, with new buffers. It is the counterpart of
   `direct`, which must stay as long, unless that is NULL. */
void msgrate_exchange_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                             const struct msgrate_pattern *pattern, int64_t size_bytes,
                             const struct msgrate_exchange *direct);
void msgrate_exchange_destroy(struct msgrate_exchange *exchange);

/* Flushes the caches, writes the data to be sent, and meets all ranks in a barrier. Collective over
   MPI_COMM_WORLD. */
void msgrate_exchange_prepare(struct msgrate_exchange *exchange);

/* Ends an iteration; returns the number of messages with wrong data on this rank (--check). */
int64_t msgrate_exchange_finish(struct msgrate_exchange *exchange);
