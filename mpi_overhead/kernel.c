#include "mpi_overhead/kernel.h"

#include "common/clock/clock.h"
#include "common/clock/work.h"
#include "common/mpi/mpi_check.h"

#include <stddef.h>

enum { TAG = 1, TOKEN_TAG = 2 };

/* What the loops differ in. */
typedef void post_fn(const struct overhead_exchange *x, MPI_Request *request);
typedef void wait_fn(MPI_Request *request);
typedef void meet_fn(const struct overhead_exchange *x);

/* The time of all iterations in ns, each of which posts, works, waits and meets the other rank.
   Inlined into each of the functions below, which name the parts, so that a loop has nothing but
   what these do. */
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

const struct overhead_loop overhead_empty_loop = {no_message, no_message, false};
const struct overhead_loop overhead_token_loop = {token_alone, await_token_alone, false};
const struct overhead_loop overhead_message_loops[OVERHEAD_DIRECTIONS] = {
    [OVERHEAD_SEND] = {send, receive, true},
    [OVERHEAD_RECEIVE] = {receive, send, true},
};
const struct overhead_loop overhead_token_message_loops[OVERHEAD_DIRECTIONS] = {
    [OVERHEAD_SEND] = {send_then_token, receive_await_token, true},
    [OVERHEAD_RECEIVE] = {receive_then_token, send_await_token, true},
};
