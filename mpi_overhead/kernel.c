#include "mpi_overhead/kernel.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "common/clock/work.h"

#include <math.h>
#include <string.h>

/* ---- the timed loop -------------------------------------------------------------------------- */

enum { TAG = 1, TOKEN_TAG = 2 };

/* What the loops differ in. */
typedef void post_fn(const struct overhead_exchange *x, MPI_Request *request);
typedef void wait_fn(MPI_Request *request);
typedef void meet_fn(const struct overhead_exchange *x);

/* Nanoseconds for so many iterations: post, work, wait, and meet the other rank.
   Inlined into each of the functions below, which name the parts, so that a loop
   has nothing but what these do. */
__attribute__((always_inline)) static inline double time_loop(const struct overhead_exchange *x,
                                                              uint64_t units, int64_t iterations,
                                                              post_fn *post, wait_fn *wait,
                                                              meet_fn *meet)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        post(x, &request);
        bc_work(units);
        wait(&request);
        meet(x);
    }
    return (double)(bc_now_ns() - start_ns);
}

static inline void post_send(const struct overhead_exchange *x, MPI_Request *request)
{
    BC_MPI(MPI_Isend(x->buffer, x->message.count, x->message.type, x->peer, TAG, x->pair, request));
}

static inline void post_receive(const struct overhead_exchange *x, MPI_Request *request)
{
    BC_MPI(MPI_Irecv(x->buffer, x->message.count, x->message.type, x->peer, TAG, x->pair, request));
}

static inline void post_nothing(const struct overhead_exchange *x, MPI_Request *request)
{
    (void)x;
    (void)request;
}

static inline void wait_message(MPI_Request *request)
{
    BC_MPI(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static inline void wait_nothing(MPI_Request *request)
{
    (void)request;
}

static inline void meet(const struct overhead_exchange *x)
{
    BC_MPI(MPI_Barrier(x->pair));
}

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

typedef double timed_loop(const struct overhead_exchange *x, uint64_t units, int64_t iterations);

#define TIMED_LOOP(name, post, wait, meet)                                                         \
    static double name(const struct overhead_exchange *x, uint64_t units, int64_t iterations)      \
    {                                                                                              \
        return time_loop(x, units, iterations, post, wait, meet);                                  \
    }

TIMED_LOOP(send, post_send, wait_message, meet)
TIMED_LOOP(receive, post_receive, wait_message, meet)
TIMED_LOOP(no_message, post_nothing, wait_nothing, meet)
TIMED_LOOP(send_then_token, post_send, wait_message, meet_after_token)
TIMED_LOOP(receive_then_token, post_receive, wait_message, meet_after_token)
TIMED_LOOP(token_alone, post_nothing, wait_nothing, meet_after_token)
TIMED_LOOP(send_await_token, post_send, wait_message, await_token_and_meet)
TIMED_LOOP(receive_await_token, post_receive, wait_message, await_token_and_meet)
TIMED_LOOP(await_token_alone, post_nothing, wait_nothing, await_token_and_meet)

/* ---- which loops ----------------------------------------------------------------------------- */

/* The two ends of a loop; the partner's is without work. */
struct loop {
    timed_loop *measurer, *partner;
    bool message;
};

static const struct loop empty_loop = {no_message, no_message, false};
static const struct loop token_loop = {token_alone, await_token_alone, false};
/* By direction. */
static const struct loop message_loops[] = {{send, receive, true}, {receive, send, true}};
static const struct loop token_message_loops[] = {
    {send_then_token, receive_await_token, true},
    {receive_then_token, send_await_token, true},
};

static const struct loop *transfer_loop(const struct overhead_exchange *x)
{
    return &message_loops[x->direction];
}

/* The overhead is the difference of these two. */
static const struct loop *overhead_loop(const struct overhead_exchange *x)
{
    return x->token ? &token_message_loops[x->direction] : transfer_loop(x);
}

static const struct loop *work_alone_loop(const struct overhead_exchange *x)
{
    return x->token ? &token_loop : &empty_loop;
}

/* Runs this rank's end of the loop. */
static double run_loop(const struct loop *loop, const struct overhead_exchange *x, uint64_t units,
                       int64_t iterations)
{
    if (x->measures)
        return loop->measurer(x, units, iterations);
    return loop->partner(x, 0, iterations);
}

/* ---- data ------------------------------------------------------------------------------------ */

static bool receives(const struct overhead_exchange *x)
{
    return x->measures == (x->direction == OVERHEAD_RECEIVE);
}

/* A message repeats itself after so many bytes: no power of two, so that a piece
   that went to the wrong place shows. */
enum { PERIOD = 251 };

/* Byte i of the message in hand. One message's differ from the last one's, so
   that old data can't pass for new; none is 0. */
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

static void verify_data(struct overhead_exchange *x)
{
    if (receives(x) && !data_is_right(x))
        x->wrong++;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* With --check each iteration is a loop of its own, between whose clock readings
   no data is written or read. Loops without a message are cut up alike, so that
   the clock's cost cancels. */
static double run_verified(const struct loop *loop, struct overhead_exchange *x, uint64_t units,
                           int64_t iterations)
{
    double ns = 0.0;
    for (int64_t i = 0; i < iterations; i++) {
        if (loop->message)
            overhead_prepare_data(x);
        ns += run_loop(loop, x, units, 1);
        if (loop->message)
            verify_data(x);
    }
    return ns;
}

/* Nanoseconds an iteration, or nothing on ranks whose times don't count. */
static double iteration_ns(const struct overhead_round *round, const struct loop *loop,
                           uint64_t units)
{
    struct overhead_exchange *const x = round->exchange;
    const int64_t n = round->iterations;
    const double ns = x->check ? run_verified(loop, x, units, n) : run_loop(loop, x, units, n);
    return x->reports ? ns / (double)n : -INFINITY;
}

static void take_work(void *context, double *values)
{
    const struct overhead_round *const round = context;
    const struct overhead_exchange *const x = round->exchange;
    values[0] = iteration_ns(round, overhead_loop(x), round->units);
    values[1] = iteration_ns(round, work_alone_loop(x), round->units);
}

static void take_full(void *context, double *values)
{
    const struct overhead_round *const round = context;
    values[OVERHEAD_BASE] = iteration_ns(round, transfer_loop(round->exchange), 0);
    values[OVERHEAD_EMPTY] = iteration_ns(round, &empty_loop, 0);
    take_work(context, &values[OVERHEAD_ITER]);
}

struct bc_source overhead_full_source(struct overhead_round *round)
{
    return (struct bc_source){
        .quantities = OVERHEAD_QUANTITIES,
        .take = take_full,
        .context = round,
        .slowest_of = OVERHEAD_BASE,
    };
}

struct bc_source overhead_work_source(struct overhead_round *round)
{
    return (struct bc_source){
        .quantities = 2,
        .take = take_work,
        .context = round,
    };
}
