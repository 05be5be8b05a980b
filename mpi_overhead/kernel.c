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
#include "common/clock/clock.h"
#include "common/work/work.h"
#include "common/mpi/mpi_check.h"
#include "mpi_overhead/measure.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { TAG = 1, TOKEN_TAG = 2 };

/* What the loops differ in. */
typedef void post_fn(const struct overhead_exchange *x, MPI_Request *request);
typedef void meet_fn(const struct overhead_exchange *x);

/* The time of all iterations in ns: post (NULL: no message), work, wait and meet. Inlined where the
   parts are named, so that a loop has nothing but what these do, and no look at `post`. */
__attribute__((always_inline)) static inline double time_loop(const struct overhead_exchange *x,
                                                              uint64_t units, int64_t iterations,
                                                              post_fn *post, meet_fn *meet)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        if (post != NULL)
            post(x, &request);
        bc_work(units);
        if (post != NULL)
            BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        meet(x);
    }
    return (double)(bc_now_ns() - start_ns);
}

static inline void post_send(const struct overhead_exchange *x, MPI_Request *request)
{
    BC_MPI(MPI_Isend(x->buffer.start, x->message.count, x->message.type, x->peer, TAG, x->pair,
                     request));
}

static inline void post_receive(const struct overhead_exchange *x, MPI_Request *request)
{
    BC_MPI(MPI_Irecv(x->buffer.start, x->message.count, x->message.type, x->peer, TAG, x->pair,
                     request));
}

static inline void meet_alone(const struct overhead_exchange *x) { BC_MPI(MPI_Barrier(x->pair)); }

static inline void meet_after_token(const struct overhead_exchange *x)
{
    BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair));
    BC_MPI(MPI_Barrier(x->pair));
}

static inline void await_token_and_meet(const struct overhead_exchange *x)
{
    BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair, MPI_STATUS_IGNORE));
    BC_MPI(MPI_Barrier(x->pair));
}

__attribute__((always_inline)) static inline double time_end(const struct overhead_exchange *x,
                                                             bool message, uint64_t units,
                                                             int64_t iterations, meet_fn *meet)
{
    if (!message)
        return time_loop(x, units, iterations, NULL, meet);
    if (overhead_receives(x))
        return time_loop(x, units, iterations, post_receive, meet);
    return time_loop(x, units, iterations, post_send, meet);
}

/* Runs this rank's end of a loop, with `units` of work in each iteration if it measures; returns
   the time of all iterations in ns. Collective over the pair. */
static double time_loops(const struct overhead_exchange *x, bool message, bool token,
                         uint64_t units, int64_t iterations)
{
    if (!x->measures)
        units = 0;
    if (!token)
        return time_end(x, message, units, iterations, meet_alone);
    if (x->measures)
        return time_end(x, message, units, iterations, meet_after_token);
    return time_end(x, message, units, iterations, await_token_and_meet);
}

/* ---- the data of --check --------------------------------------------------------------------- */

/* A message repeats itself after PERIOD bytes, no power of two: data in the wrong place shows. */
enum { PERIOD = 251 };

/* Byte i of the present message, never 0; another one in each message, so that old data shows. */
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

/* The time of an iteration in ns, or -INFINITY on ranks whose times don't count. */
static double iteration_ns(struct overhead_exchange *x, bool message, bool token, uint64_t units)
{
    /* With --check each iteration is a loop of its own, and data is written and verified between
       the loops; with --buffers=new memory is allocated there. Loops without a message are cut up
       alike, so that the clock's cost cancels. */
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
    return x->reports ? ns / (double)x->iterations : -INFINITY;
}

void overhead_take_work(void *exchange, double *values)
{
    struct overhead_exchange *const x = exchange;
    values[0] = iteration_ns(x, true, x->token, x->apart ? 0 : x->units);
    values[1] = iteration_ns(x, false, x->token, x->units);
}

void overhead_take_full(void *exchange, double *values)
{
    values[OVERHEAD_BASE] = iteration_ns(exchange, true, false, 0);
    values[OVERHEAD_EMPTY] = iteration_ns(exchange, false, false, 0);
    overhead_take_work(exchange, &values[OVERHEAD_ITER]);
}
