/*
 * What iterations with two-sided (exchange.h) and one-sided communication (access.h) have in
 * common: their messages, and the row that they become.
 *
 * Before each iteration, and outside its time, the caches are flushed, what is transferred is
 * written, and all ranks meet in a barrier, so that no rank times the flush of another one.
 */
#pragma once

#include "common/large_count/large_count.h"
#include "msgrate/bench.h"
#include "msgrate/columns.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- messages -------------------------------------------------------------------------------- */

/* The messages of an iteration. A block holds those to one peer, or from it; a buffer holds the
   blocks of all peers, one after the other. With --check a message's data follows from the
   iteration, its sender, its receiver and its number, so that a message that was lost, went to the
   wrong place or is of another iteration is found. All functions are local. */
struct msgrate_messages {
    int count;                   /* to a peer */
    int64_t bytes;               /* of a message */
    struct bc_amount amount;     /* these bytes, as MPI takes them */
    int npeers;                  /* length of both lists: 0 on a rank that rests */
    const int *sends, *receives; /* the ranks that this one sends to, receives from */
};

/* The messages between this rank and all its peers, or its partner in the single direction. Free
   `amount` when they are no longer needed. */
struct msgrate_messages msgrate_messages_of(const struct msgrate_bench *bench, int64_t bytes,
                                            bool one_partner);

/* The bytes from one block to the next. */
static inline size_t msgrate_block_bytes(const struct msgrate_messages *messages)
{
    return (size_t)messages->count * (size_t)messages->bytes;
}

/* Block number `place` of a buffer. */
static inline unsigned char *msgrate_block(const struct msgrate_messages *messages,
                                           unsigned char *buffer, int place)
{
    return buffer + msgrate_block_bytes(messages) * (size_t)place;
}

/* Allocates a buffer as bc_allocate_pages does. Ends the job without memory. */
unsigned char *msgrate_allocate(const struct msgrate_messages *messages);

/* Writes into a buffer what this rank sends in an iteration: with --check so that msgrate_verify
   can verify it on the receiver. */
void msgrate_write(const struct bc_run *run, const struct msgrate_messages *messages,
                   unsigned char *buffer, int64_t iteration);

/* The number of wrong messages of those sent to this rank in an iteration, with --check. */
int64_t msgrate_verify(const struct bc_run *run, const struct msgrate_messages *messages,
                       unsigned char *buffer, int64_t iteration);

/* ---- rows ------------------------------------------------------------------------------------ */

/* What is known of a pattern; all zeros before the first visit but for the first line. */
struct msgrate_row {
    const char *pattern;
    bool one_partner;   /* lower half to upper half; else all peers, both ways */
    int64_t size_bytes; /* of a message */

    struct bc_samples iterations;
    int64_t wrong; /* messages, on this rank */
    bool in_time;  /* the last visit was precise before its time was up; rank 0 */
};

/* Samples iterations within `seconds` (significant on rank 0). `iterate` runs one with what comes
   before and after it, and sets its time in ns, or -INFINITY on a rank that times nothing.
   Collective. */
void msgrate_sample(const struct bc_run *run, void (*iterate)(void *context, double *time_ns),
                    void *context, double seconds, struct msgrate_row *row);

/* Whether the pattern's rate is as precise as the settings ask for. Local; rank 0. */
bool msgrate_is_precise(const struct msgrate_bench *bench, const struct msgrate_row *row);

/* Makes the result of all visits, on rank 0, warns of wrong data, and frees what the row holds.
   Collective. */
void msgrate_conclude(const struct msgrate_bench *bench, struct msgrate_row *row,
                      struct msgrate_result *result);
