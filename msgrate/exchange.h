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
    /* Before the first iteration and after the last one, in no sample; NULL: nothing. */
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
    int64_t wrong; /* messages with wrong data on this rank so far */

    /* The counterpart, whose buffers are pinned memory, and which copies from and to the first
       one's where these need it; NULL: there is none. */
    struct msgrate_exchange *staged;
    const struct msgrate_exchange *direct; /* of the counterpart; else NULL */
};

/* The buffer into which the messages of an iteration go, 0: of the present one, 1: of the next. */
static inline struct bc_buffer *msgrate_arriving(struct msgrate_exchange *exchange, int ahead)
{
    /* No division, since it is in the timed part. */
    return &exchange->receive[(exchange->iteration + ahead) & (exchange->receive_count - 1)];
}

/* Whether this rank sends, or receives, in an iteration. */
static inline bool msgrate_sends(const struct msgrate_exchange *exchange)
{
    return !(exchange->pattern->one_partner && !exchange->bench->lower);
}
static inline bool msgrate_receives(const struct msgrate_exchange *exchange)
{
    return !(exchange->pattern->one_partner && exchange->bench->lower);
}

/* The direct exchange's buffers that this one copies from, and to; NULL: none. */
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

/* The timed part of an iteration, or of the counterpart's: returns its time in ns (kernel.c). */
int64_t msgrate_time(struct msgrate_exchange *exchange);
int64_t msgrate_time_staged(struct msgrate_exchange *exchange);

/* One visit: measures the row's pattern within `seconds` (significant on rank 0), in buffers made
   anew. Collective. */
void msgrate_exchange_visit(struct msgrate_bench *bench, const struct msgrate_pattern *pattern,
                            double seconds, struct msgrate_row *row);
