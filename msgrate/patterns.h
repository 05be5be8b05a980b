/*
 * The four message patterns, with two-sided communication.
 *
 * Specification: the Sandia message rate benchmark. Before each iteration, and
 * outside its time, the caches are flushed, the send buffers written, and all
 * ranks meet in a barrier, so that nobody times somebody else's flush.
 */
#ifndef COMMCOST_MSGRATE_PATTERNS_H
#define COMMCOST_MSGRATE_PATTERNS_H

#include "msgrate/bench.h"
#include "msgrate/messages.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* This rank's part in a pattern. */
struct msgrate_exchange {
    struct msgrate_bench *bench;
    struct msgrate_messages messages;
    unsigned char *send_buffer;
    /* For even and odd iterations: two buffers with --check, since what is
       posted ahead must not touch what is still to be verified; else one. */
    unsigned char *receive_buffers[2];
    MPI_Request *requests; /* 2 x peers x messages */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */
    int64_t iteration;     /* since the pattern began */
    int64_t wrong;         /* messages with wrong data on this rank so far */
};

typedef int64_t msgrate_time_fn(const struct msgrate_exchange *exchange);

struct msgrate_pattern {
    const char *name;
    bool one_partner; /* lower half to upper half; else all peers, both ways */
    /* The timed part of an iteration, in ns, on the lower and on the upper half
       of the ranks; local. */
    msgrate_time_fn *time_lower, *time_upper;
    /* What comes before the first iteration and after the last one, in no
       sample; NULL: nothing. */
    void (*begin)(const struct msgrate_exchange *exchange);
    void (*end)(const struct msgrate_exchange *exchange);
};

enum { MSGRATE_PATTERNS = 4 };
extern const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS];

/* Allocates for messages of so many bytes. Local. */
void msgrate_exchange_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                             int64_t size_bytes);
void msgrate_exchange_destroy(struct msgrate_exchange *exchange);

/* One iteration with what comes before and after it; returns its time in ns,
   or -INFINITY on a rank that rests. Collective over MPI_COMM_WORLD. */
double msgrate_iterate(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern);

/* Measures a row within so many seconds (significant on rank 0). Collective. */
void msgrate_measure(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern,
                     double seconds, struct msgrate_result *result);

#endif
