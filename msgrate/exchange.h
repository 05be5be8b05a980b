/* Iterations with two-sided communication. */
#pragma once

#include "msgrate/bench.h"

/* This rank's part in the iterations of a pattern. */
struct msgrate_exchange {
    struct msgrate_messages messages;
    int64_t iteration; /* from 0 on */
    unsigned char *send_buffer;
    /* For even and odd iterations: two buffers with --check, since what is posted ahead must not
       touch what is still to be verified; else one. */
    unsigned char *receive_buffers[2];
    MPI_Request *requests; /* 2 x peers x messages */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */

    struct msgrate_bench *bench;
    const struct msgrate_pattern *pattern;
    int64_t wrong; /* messages with wrong data on this rank so far */
};

/* The buffer into which the messages of the present iteration go. */
static inline unsigned char *msgrate_arriving(const struct msgrate_exchange *exchange)
{
    return exchange->receive_buffers[exchange->iteration % 2];
}

/* A pattern (kernel.c). */
struct msgrate_pattern {
    const char *name;
    bool one_partner; /* lower half to upper half; else all peers, both ways */
    /* The timed part of an iteration: returns its time in ns. */
    int64_t (*time)(const struct msgrate_exchange *exchange);
    /* Before the first iteration and after the last one, in no sample; NULL: nothing. */
    void (*begin)(const struct msgrate_exchange *exchange);
    void (*end)(const struct msgrate_exchange *exchange);
};

extern const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS];

/* One visit: measures the row's pattern within `seconds` (significant on rank 0), in buffers made
   anew. Collective. */
void msgrate_exchange_visit(struct msgrate_bench *bench, const struct msgrate_pattern *pattern,
                            double seconds, struct msgrate_row *row);
