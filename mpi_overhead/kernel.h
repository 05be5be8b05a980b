/*
 * The timed loops of the post-work-wait method.
 *
 * Ranks work in pairs: one measures, its partner does the other end of the message. An iteration
 * ends with a barrier of the two, so that no message starts before the last one has arrived. Loops
 * with and without a message have this barrier alike, and it cancels in their difference.
 *
 * It cancels only where it costs the same in both loops. Beyond the knee the partner has long
 * reached the barrier, and in a shared queue its part of the barrier lies right behind the message:
 * the wait for the message takes that part in, too, and the barrier costs less than without a
 * message, by as much as the overhead of a small message. So the measuring rank sends its partner a
 * token, a message of no bytes, before it enters the barrier, and the partner waits for the token
 * first: nothing but the message can be there to be waited for. Loops with and without a message
 * have the token alike.
 *
 * Only the loops that give the overhead have a token. Without work the token would travel together
 * with the message and hide a part of the transfer time, or let one end leave the barrier well
 * before the other.
 */
#ifndef COMMCOST_MPI_OVERHEAD_KERNEL_H
#define COMMCOST_MPI_OVERHEAD_KERNEL_H

#include "common/mpi/large_count.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum overhead_direction { OVERHEAD_SEND, OVERHEAD_RECEIVE, OVERHEAD_DIRECTIONS };

/* One end of a message, on every rank. */
struct overhead_exchange {
    enum overhead_direction direction; /* what the measuring rank does */
    bool measures;                     /* this rank measures; else it is a partner */
    bool reports;                      /* its times are the samples; at least one rank's are */
    bool token;                        /* the overhead is measured with a token */
    MPI_Comm pair;                     /* the two ranks: 0 measures, 1 is the partner */
    int peer;                          /* the other one's rank in `pair` */
    int64_t bytes;                     /* of the message */
    struct bc_amount message;          /* these bytes, as MPI takes them */
    unsigned char *buffer;
    bool check;       /* verify the data of each message */
    int64_t messages; /* prepared so far, the same on both ranks */
    int64_t wrong;    /* messages that arrived wrong on this rank */
};

/* Whether messages go to this rank. */
static inline bool overhead_receives(const struct overhead_exchange *exchange)
{
    return exchange->measures == (exchange->direction == OVERHEAD_RECEIVE);
}

/* Runs this rank's end of a loop with or without a message and a token, on the measuring rank with
   `units` of work in each iteration; returns the time of all iterations in ns. Collective over the
   pair. */
double overhead_time_loop(const struct overhead_exchange *exchange, bool message, bool token,
                          uint64_t units, int64_t iterations);

#endif
