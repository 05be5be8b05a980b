#include "msgrate/messages.h"

#include "common/machine/memory.h"

#include <stdbool.h>

unsigned char *msgrate_allocate(const struct msgrate_messages *messages, int blocks)
{
    return bc_allocate_pages(msgrate_block_bytes(messages) * (size_t)blocks,
                             "no memory for %d x %d messages of %lld bytes", blocks,
                             messages->count, (long long)messages->bytes);
}

/* The first byte of a message, which differs between neighbouring iterations, senders, receivers
   and messages. */
static unsigned first_byte(int64_t iteration, int sender, int receiver, int message)
{
    return (unsigned)(iteration * 101) + (unsigned)sender * 59 + (unsigned)receiver * 31 +
           (unsigned)message * 7 + 1;
}

/* Byte i of a message whose first byte is `first`. Bytes repeat themselves after 251, a prime, so
   that data a power of two away from its place shows. */
static unsigned char byte_at(unsigned first, int64_t i)
{
    return (unsigned char)((first + (uint64_t)i * 13) % 251);
}

void msgrate_write_block(const struct msgrate_messages *messages, unsigned char *block,
                         int64_t iteration, int sender, int receiver)
{
    for (int m = 0; m < messages->count; m++) {
        const unsigned first = first_byte(iteration, sender, receiver, m);
        for (int64_t i = 0; i < messages->bytes; i++)
            *block++ = byte_at(first, i);
    }
}

int64_t msgrate_count_wrong(const struct msgrate_messages *messages, const unsigned char *block,
                            int64_t iteration, int sender, int receiver)
{
    int64_t wrong = 0;
    for (int m = 0; m < messages->count; m++) {
        const unsigned first = first_byte(iteration, sender, receiver, m);
        bool good = true;
        for (int64_t i = 0; i < messages->bytes; i++)
            good = *block++ == byte_at(first, i) && good;
        wrong += !good;
    }
    return wrong;
}
