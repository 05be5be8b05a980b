#include "mpi_overhead/kernel.h"

#include "common/clock.h"
#include "common/mpi_check.h"
#include "common/work.h"

#include <math.h>
#include <string.h>

/* ---- the timed loops ------------------------------------------------------- */

enum { TAG = 1, TOKEN_TAG = 2 };

/* Each returns the nanoseconds that so many iterations took. The measuring rank
   and its partner run the two ends of a loop, the partner without work. */
typedef double timed_loop(const struct overhead_exchange *x, uint64_t units,
                          int64_t iterations);

static double time_send(const struct overhead_exchange *x, uint64_t units,
                        int64_t iterations)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        BC_MPI(MPI_Isend(x->buffer, x->count, MPI_BYTE, x->peer, TAG, x->pair,
                         &request));
        bc_work(units);
        BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Barrier(x->pair));
    }
    return (double)(bc_now_ns() - start_ns);
}

static double time_receive(const struct overhead_exchange *x, uint64_t units,
                           int64_t iterations)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        BC_MPI(MPI_Irecv(x->buffer, x->count, MPI_BYTE, x->peer, TAG, x->pair,
                         &request));
        bc_work(units);
        BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Barrier(x->pair));
    }
    return (double)(bc_now_ns() - start_ns);
}

static double time_work(const struct overhead_exchange *x, uint64_t units,
                        int64_t iterations)
{
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        bc_work(units);
        BC_MPI(MPI_Barrier(x->pair));
    }
    return (double)(bc_now_ns() - start_ns);
}

/* ---- the same, a token before the barrier ------------------------------------ */

static double time_receive_then_token(const struct overhead_exchange *x,
                                      uint64_t units, int64_t iterations)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        BC_MPI(MPI_Irecv(x->buffer, x->count, MPI_BYTE, x->peer, TAG, x->pair,
                         &request));
        bc_work(units);
        BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair));
        BC_MPI(MPI_Barrier(x->pair));
    }
    return (double)(bc_now_ns() - start_ns);
}

static double time_send_await_token(const struct overhead_exchange *x,
                                    uint64_t units, int64_t iterations)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        BC_MPI(MPI_Isend(x->buffer, x->count, MPI_BYTE, x->peer, TAG, x->pair,
                         &request));
        bc_work(units);
        BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair,
                        MPI_STATUS_IGNORE));
        BC_MPI(MPI_Barrier(x->pair));
    }
    return (double)(bc_now_ns() - start_ns);
}

static double time_work_then_token(const struct overhead_exchange *x,
                                   uint64_t units, int64_t iterations)
{
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        bc_work(units);
        BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair));
        BC_MPI(MPI_Barrier(x->pair));
    }
    return (double)(bc_now_ns() - start_ns);
}

static double time_await_token(const struct overhead_exchange *x,
                               uint64_t units, int64_t iterations)
{
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        bc_work(units);
        BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, x->peer, TOKEN_TAG, x->pair,
                        MPI_STATUS_IGNORE));
        BC_MPI(MPI_Barrier(x->pair));
    }
    return (double)(bc_now_ns() - start_ns);
}

/* ---- which loops ------------------------------------------------------------- */

struct loop {
    timed_loop *measurer, *partner;
};

static const struct loop send_loop = {time_send, time_receive};
static const struct loop receive_loop = {time_receive, time_send};
static const struct loop work_loop = {time_work, time_work};
static const struct loop receive_token_loop = {time_receive_then_token,
                                               time_send_await_token};
static const struct loop work_token_loop = {time_work_then_token,
                                            time_await_token};

static const struct loop *loop_with_message(const struct overhead_exchange *x)
{
    if (x->direction == OVERHEAD_SEND)
        return &send_loop;
    return x->token ? &receive_token_loop : &receive_loop;
}

static const struct loop *loop_without_message(
    const struct overhead_exchange *x)
{
    return x->token ? &work_token_loop : &work_loop;
}

/* Runs this rank's end of the loop. */
static double run_loop(const struct loop *loop,
                       const struct overhead_exchange *x, uint64_t units,
                       int64_t iterations)
{
    if (x->measures)
        return loop->measurer(x, units, iterations);
    return loop->partner(x, 0, iterations);
}

/* ---- data -------------------------------------------------------------------- */

static bool receives(const struct overhead_exchange *x)
{
    return x->measures == (x->direction == OVERHEAD_RECEIVE);
}

static unsigned char data_byte(int i)
{
    return (unsigned char)(i % 251 + 1);
}

void overhead_prepare_data(struct overhead_exchange *exchange)
{
    if (receives(exchange)) {
        memset(exchange->buffer, 0, (size_t)exchange->count);
        return;
    }
    for (int i = 0; i < exchange->count; i++)
        exchange->buffer[i] = data_byte(i);
}

static void verify_data(struct overhead_exchange *x)
{
    if (!receives(x))
        return;
    for (int i = 0; i < x->count; i++)
        if (x->buffer[i] != data_byte(i)) {
            x->wrong++;
            return;
        }
}

/* ---- rounds ------------------------------------------------------------------ */

/* Nanoseconds an iteration, or nothing on ranks whose times don't count. */
static double with_message(const struct overhead_round *round, uint64_t units)
{
    struct overhead_exchange *const x = round->exchange;
    const int64_t n = round->iterations;
    if (x->check)
        overhead_prepare_data(x);
    const double ns = run_loop(loop_with_message(x), x, units, n);
    if (x->check)
        verify_data(x);
    return x->reports ? ns / (double)n : -INFINITY;
}

static double without_message(const struct overhead_round *round,
                              uint64_t units)
{
    const struct overhead_exchange *const x = round->exchange;
    const int64_t n = round->iterations;
    const double ns = run_loop(loop_without_message(x), x, units, n);
    return x->reports ? ns / (double)n : -INFINITY;
}

static void take_full(void *context, double *values)
{
    const struct overhead_round *const round = context;
    values[OVERHEAD_BASE] = with_message(round, 0);
    values[OVERHEAD_EMPTY] = without_message(round, 0);
    values[OVERHEAD_ITER] = with_message(round, round->units);
    values[OVERHEAD_WORK] = without_message(round, round->units);
}

static void take_work(void *context, double *values)
{
    const struct overhead_round *const round = context;
    values[0] = with_message(round, round->units);
    values[1] = without_message(round, round->units);
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
