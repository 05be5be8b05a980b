/*
 * The messages of an iteration: where they lie and what is in them.
 *
 * A block holds the messages to one peer, or from it; a buffer holds the blocks of all peers, one
 * after the other. With --check a message's data follows from the iteration, its sender, its
 * receiver and its number, so that a message that was lost, went to the wrong place or is of
 * another iteration is found. All functions are local.
 */
#ifndef COMMCOST_MSGRATE_MESSAGES_H
#define COMMCOST_MSGRATE_MESSAGES_H

#include "common/mpi/large_count.h"

#include <stddef.h>
#include <stdint.h>

struct msgrate_messages {
    int count;               /* to a peer */
    int64_t bytes;           /* of a message */
    struct bc_amount amount; /* these bytes, as MPI takes them */
};

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

/* Allocates a buffer of `blocks` blocks, as bc_allocate_pages does. Ends the job if there is no
   memory. */
unsigned char *msgrate_allocate(const struct msgrate_messages *messages, int blocks);

/* Writes what `sender` sends to `receiver` in an iteration. */
void msgrate_write_block(const struct msgrate_messages *messages, unsigned char *block,
                         int64_t iteration, int sender, int receiver);

/* The number of messages of the block that are not what was sent. */
int64_t msgrate_count_wrong(const struct msgrate_messages *messages, const unsigned char *block,
                            int64_t iteration, int sender, int receiver);

#endif
