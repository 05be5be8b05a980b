/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations with two-sided communication. */
#pragma once

#include "msgrate/bench.h"

struct msgrate_exchange;

/* Sends and receives the messages of an iteration, or some of them. */
typedef void msgrate_exchange_fn(struct msgrate_exchange *exchange);

/* A pattern (kernel.c). */
struct msgrate_pattern {
    const char *name;
    bool one_partner;              /* lower half to upper half; otherwise all peers, both ways */
    msgrate_exchange_fn *exchange; /* timed */
    /* Called before the first iteration and after the last one, untimed, unless NULL. With a
       counterpart, called before and after each iteration, since receives that are posted ahead
       would get the counterpart's messages. */
    msgrate_exchange_fn *begin, *end;
};

/* This rank's part in the iterations of a pattern. */
struct msgrate_exchange {
    struct msgrate_messages messages;
    int64_t iteration; /* number, from 0 on */
    struct bc_buffer send;
    /* For even and odd iterations. There are two with --check, since receives posted ahead must not
       overwrite data still to be verified, and with --buffers=new; otherwise one. */
    struct bc_buffer receive[2];
    int receive_count;     /* 1 or 2 */
    MPI_Request *requests; /* 2 x peers x messages */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */

    struct msgrate_bench *bench;
    const struct msgrate_pattern *pattern;
    /* In a counterpart, whose buffers are in pinned memory: the exchange whose buffers it copies,
       if they need copying. Otherwise NULL. */
    const struct msgrate_exchange *direct;
};

/* Returns the buffer that receives the messages of the current iteration (ahead = 0) or of the next
   one (1). */
static inline struct bc_buffer *msgrate_arriving(struct msgrate_exchange *exchange, int ahead)
{
    /* No division, since it is timed. */
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

/* Return the direct exchange's buffer that this one copies from or to, or NULL if there is none. */
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

/* Time an iteration, or one of a counterpart (kernel.c). */
struct bc_span msgrate_time(struct msgrate_exchange *exchange);
struct bc_span msgrate_time_staged(struct msgrate_exchange *exchange);

/* Creates an exchange of messages of `size_bytes`, with new buffers. If `direct` isn't NULL, it is
   the counterpart of `direct`, which must live as long. */
void msgrate_exchange_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                             const struct msgrate_pattern *pattern, int64_t size_bytes,
                             const struct msgrate_exchange *direct);
void msgrate_exchange_destroy(struct msgrate_exchange *exchange);

/* Flushes the caches, writes the data to be sent, and enters a barrier of all ranks. */
void msgrate_exchange_prepare(struct msgrate_exchange *exchange);

/* Ends an iteration. Returns the number of messages with wrong data on this rank (--check). */
int64_t msgrate_exchange_finish(struct msgrate_exchange *exchange);
