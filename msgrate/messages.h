/*
 * The messages of an iteration: where they lie and what is in them.
 *
 * A block holds the messages to one peer, or from it; a buffer holds a block a
 * peer, one after the other. What a message contains is told by the iteration,
 * its sender, its receiver and its number, so that one that was lost, or went
 * to the wrong place, or is of another iteration, is found. All functions are
 * local.
 */
#ifndef COMMCOST_MSGRATE_MESSAGES_H
#define COMMCOST_MSGRATE_MESSAGES_H

#include "common/mpi/large_count.h"

#include <stddef.h>
#include <stdint.h>

struct msgrate_messages {
    int count;               /* to a peer */
    int64_t bytes;           /* of each */
    struct bc_amount amount; /* these bytes, as MPI takes them */
};

/* So many messages of so many bytes; to be destroyed when nothing is on its way
   any more. */
struct msgrate_messages msgrate_messages_create(int count, int64_t bytes);
void msgrate_messages_destroy(struct msgrate_messages *messages);

/* From one block to the next, in bytes. */
static inline size_t msgrate_block_bytes(const struct msgrate_messages *messages)
{
    return (size_t)messages->count * (size_t)messages->bytes;
}

/* The block at this place of a buffer. */
static inline unsigned char *msgrate_block(const struct msgrate_messages *messages,
                                           unsigned char *buffer, int place)
{
    return buffer + msgrate_block_bytes(messages) * (size_t)place;
}

/* A buffer of so many blocks, from a page's start on, touched. Ends the job if there is no memory.
 */
unsigned char *msgrate_allocate(const struct msgrate_messages *messages, int blocks);

/* Writes what `sender` sends to `receiver` in this iteration. */
void msgrate_write_block(const struct msgrate_messages *messages, unsigned char *block,
                         int64_t iteration, int sender, int receiver);

/* How many messages of the block are not what was sent. */
int64_t msgrate_count_wrong(const struct msgrate_messages *messages, const unsigned char *block,
                            int64_t iteration, int sender, int receiver);

#endif
