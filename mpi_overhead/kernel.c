/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timed loops of the post-work-wait method.
 *
 * Ranks work in pairs: one measures, its partner is the other end of the message. An iteration ends
 * with a barrier of the two, so that no message starts before the last one has arrived. Loops with
 * and without a message both have this barrier, so it cancels in their difference.
 *
 * It cancels only if it costs the same in both loops. Beyond the knee the partner has long reached
 * the barrier, and in a shared queue its part of the barrier directly follows the message. The wait
 * for the message handles that part too, so the barrier costs less than without a message, by as
 * much as the overhead of a small message. So the measuring rank sends its partner a token, an
 * empty message, before it enters the barrier, and the partner first waits for the token. Loops
 * with and without a message both have the token.
 *
 * Only the loops that give the overhead have a token. Without work the token would travel together
 * with the message and hide a part of the transfer time, or let one end leave the barrier well
 * before the other.
 */
#include "common/clock/clock.h"
#include "common/work/work.h"
#include "common/mpi/mpi_check.h"
#include "mpi_overhead/mpi_overhead.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { TAG = 1, TOKEN_TAG = 2 };

/* Differences between loops. They are constants in inlined functions, so that a loop contains only
   its own calls, without a branch. */
enum message { NO_MESSAGE, SENT, RECEIVED };
enum token { NO_TOKEN, TOKEN_SENT, TOKEN_RECEIVED };

#define INLINE __attribute__((always_inline)) static inline

INLINE void post(const struct overhead_exchange *x, enum message message, MPI_Request *request)
{
    if (message == SENT)
        BC_MPI(MPI_Isend(x->buffer.start, x->message.count, x->message.type, x->peer, TAG, x->pair,
                         request));
    if (message == RECEIVED)
        BC_MPI(MPI_Irecv(x->buffer.start, x->message.count, x->message.type, x->peer, TAG, x->pair,
                         request));
}

INLINE void meet(const struct overhead_exchange *x, enum token token)
{
    if (token == TOKEN_SENT)
        BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair));
    if (token == TOKEN_RECEIVED)
        BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair, MPI_STATUS_IGNORE));
    BC_MPI(MPI_Barrier(x->pair));
}

/* Times all iterations, in ns: post, work, wait and barrier. */
INLINE double time_loop(const struct overhead_exchange *x, uint64_t units, int64_t iterations,
                        enum message message, enum token token)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        post(x, message, &request);
        bc_work(units);
        if (message != NO_MESSAGE)
            BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        meet(x, token);
    }
    return (double)(bc_now_ns() - start_ns);
}

INLINE double time_message(const struct overhead_exchange *x, uint64_t units, int64_t iterations,
                           enum message message, enum token token)
{
    if (message == NO_MESSAGE)
        return time_loop(x, units, iterations, NO_MESSAGE, token);
    if (message == RECEIVED)
        return time_loop(x, units, iterations, RECEIVED, token);
    return time_loop(x, units, iterations, SENT, token);
}

/* Runs this rank's end of a loop, with `units` of work in each iteration if it measures. Returns
   the time of all iterations in ns. Collective over the pair. */
INLINE double time_loops(const struct overhead_exchange *x, bool has_message, bool has_token,
                         uint64_t units, int64_t iterations)
{
    const enum message arriving = overhead_receives(x) ? RECEIVED : SENT;
    const enum message message = has_message ? arriving : NO_MESSAGE;
    if (!x->measures)
        units = 0;
    if (!has_token)
        return time_message(x, units, iterations, message, NO_TOKEN);
    if (x->measures)
        return time_message(x, units, iterations, message, TOKEN_SENT);
    return time_message(x, units, iterations, message, TOKEN_RECEIVED);
}

/* ---- the data of --check --------------------------------------------------------------------- */

/* Data repeats after PERIOD bytes, not a power of two, so that misplaced data shows. */
enum { PERIOD = 251 };

/* Returns byte i of the current message: never 0, and new in each message, so old data shows. */
static unsigned char data_byte(const struct overhead_exchange *x, int64_t i)
{
    return (unsigned char)((x->messages + i) % PERIOD + 1);
}

void overhead_prepare_data(struct overhead_exchange *x)
{
    const size_t count = (size_t)x->bytes;
    unsigned char *const image = x->buffer.image;
    x->messages++;
    if (overhead_receives(x))
        memset(image, 0, count);
    for (int64_t i = 0; !overhead_receives(x) && i < PERIOD && i < x->bytes; i++)
        image[i] = data_byte(x, i);
    for (size_t done = PERIOD; done < count; done *= 2)
        memcpy(image + done, image, done < count - done ? done : count - done);
    bc_buffer_write(&x->buffer, count);
}

static bool data_is_right(struct overhead_exchange *x)
{
    const unsigned char *const image = x->buffer.image;
    if (!bc_buffer_read(&x->buffer, (size_t)x->bytes))
        return false;
    for (int64_t i = 0; i < PERIOD && i < x->bytes; i++)
        if (image[i] != data_byte(x, i))
            return false;
    return x->bytes <= PERIOD || memcmp(image, image + PERIOD, (size_t)(x->bytes - PERIOD)) == 0;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

void overhead_time(struct overhead_exchange *x, const struct bc_round *round, int quantity,
                   bool message, bool token, uint64_t units)
{
    /* With --check or --buffers=new each iteration is a separate loop, and data is verified or
       memory is allocated between loops. Loops without a message are split the same way, so that
       the clock's cost cancels. */
    const int64_t loops = x->check || x->renews ? x->iterations : 1;
    double ns = 0.0;
    for (int64_t i = 0; i < loops; i++) {
        if (x->check && message)
            overhead_prepare_data(x);
        if (x->renews && message)
            bc_buffer_renew(&x->buffer);
        ns += time_loops(x, message, token, units, x->iterations / loops);
        if (x->check && message && overhead_receives(x) && !data_is_right(x))
            x->wrong++;
    }
    if (x->reports)
        bc_round_value(round, quantity, ns / (double)x->iterations);
}
