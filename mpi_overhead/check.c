#include "mpi_overhead/check.h"

#include <string.h>

static bool receives(const struct overhead_exchange *x)
{
    return x->measures == (x->direction == OVERHEAD_RECEIVE);
}

/* A message repeats itself after PERIOD bytes: no power of two, so that a piece that went to the
   wrong place shows. */
enum { PERIOD = 251 };

/* Byte i of the present message; never 0. */
static unsigned char data_byte(const struct overhead_exchange *x, int64_t i)
{
    return (unsigned char)((x->messages + i) % PERIOD + 1);
}

void overhead_prepare_data(struct overhead_exchange *exchange)
{
    unsigned char *const buffer = exchange->buffer;
    const size_t count = (size_t)exchange->bytes;
    exchange->messages++;
    if (receives(exchange)) {
        memset(buffer, 0, count);
        return;
    }
    for (int64_t i = 0; i < PERIOD && i < exchange->bytes; i++)
        buffer[i] = data_byte(exchange, i);
    for (size_t done = PERIOD; done < count; done *= 2)
        memcpy(buffer + done, buffer, done < count - done ? done : count - done);
}

static bool data_is_right(const struct overhead_exchange *x)
{
    for (int64_t i = 0; i < PERIOD && i < x->bytes; i++)
        if (x->buffer[i] != data_byte(x, i))
            return false;
    return x->bytes <= PERIOD ||
           memcmp(x->buffer, x->buffer + PERIOD, (size_t)(x->bytes - PERIOD)) == 0;
}

void overhead_verify_data(struct overhead_exchange *exchange)
{
    if (receives(exchange) && !data_is_right(exchange))
        exchange->wrong++;
}
