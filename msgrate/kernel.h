/*
 * The timed regions of msgrate: four message patterns with two-sided communication.
 *
 * Specification: the Sandia message rate benchmark (SMB).
 */
#ifndef COMMCOST_MSGRATE_KERNEL_H
#define COMMCOST_MSGRATE_KERNEL_H

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
    /* For even and odd iterations: two buffers with --check, since what is posted ahead must not
       touch what is still to be verified; else one. */
    unsigned char *receive_buffers[2];
    MPI_Request *requests; /* 2 x peers x messages */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */
    int64_t iteration;     /* since the pattern began */
    int64_t wrong;         /* messages with wrong data on this rank so far */
};

/* The buffer into which the messages of the present iteration go. */
static inline unsigned char *msgrate_arriving(const struct msgrate_exchange *exchange)
{
    return exchange->receive_buffers[exchange->iteration % 2];
}

/* Runs the timed part of an iteration; returns its time in ns. */
typedef int64_t msgrate_time_fn(const struct msgrate_exchange *exchange);

struct msgrate_pattern {
    const char *name;
    bool one_partner; /* lower half to upper half; else all peers, both ways */
    /* On the lower and on the upper half of the ranks. */
    msgrate_time_fn *time_lower, *time_upper;
    /* Before the first iteration and after the last one, in no sample; NULL: nothing. */
    void (*begin)(const struct msgrate_exchange *exchange);
    void (*end)(const struct msgrate_exchange *exchange);
};

enum { MSGRATE_PATTERNS = 4 };
extern const struct msgrate_pattern msgrate_patterns[MSGRATE_PATTERNS];

#endif
