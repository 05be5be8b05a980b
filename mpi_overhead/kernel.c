#include "mpi_overhead/kernel.h"

#include "common/clock.h"
#include "common/mpi_check.h"
#include "common/work.h"

#include <math.h>
#include <string.h>

/* ---- the timed loops ------------------------------------------------------- */

enum { MEASURER = 0, PARTNER = 1, TAG = 1 };

static double time_send(const struct overhead_exchange *x, uint64_t units,
                        int64_t iterations)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < iterations; i++) {
        BC_MPI(MPI_Isend(x->buffer, x->count, MPI_BYTE, PARTNER, TAG, x->pair,
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
        BC_MPI(MPI_Irecv(x->buffer, x->count, MPI_BYTE, PARTNER, TAG, x->pair,
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

/* ---- the other end --------------------------------------------------------- */

static void accompany_send(const struct overhead_exchange *x,
                           int64_t iterations)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    for (int64_t i = 0; i < iterations; i++) {
        BC_MPI(MPI_Irecv(x->buffer, x->count, MPI_BYTE, MEASURER, TAG, x->pair,
                         &request));
        BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Barrier(x->pair));
    }
}

static void accompany_receive(const struct overhead_exchange *x,
                              int64_t iterations)
{
    MPI_Request request;
    BC_MPI(MPI_Barrier(x->pair));
    for (int64_t i = 0; i < iterations; i++) {
        BC_MPI(MPI_Isend(x->buffer, x->count, MPI_BYTE, MEASURER, TAG, x->pair,
                         &request));
        BC_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Barrier(x->pair));
    }
}

static void accompany_work(const struct overhead_exchange *x,
                           int64_t iterations)
{
    BC_MPI(MPI_Barrier(x->pair));
    for (int64_t i = 0; i < iterations; i++)
        BC_MPI(MPI_Barrier(x->pair));
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

/* A loop with messages: nanoseconds an iteration, or nothing on ranks whose
   times don't count. */
static double message_loop(const struct overhead_round *round, uint64_t units)
{
    struct overhead_exchange *const x = round->exchange;
    const int64_t n = round->iterations;
    double ns = -INFINITY;
    if (x->check)
        overhead_prepare_data(x);
    if (!x->measures && x->direction == OVERHEAD_SEND)
        accompany_send(x, n);
    else if (!x->measures)
        accompany_receive(x, n);
    else if (x->direction == OVERHEAD_SEND)
        ns = time_send(x, units, n);
    else
        ns = time_receive(x, units, n);
    if (x->check)
        verify_data(x);
    return x->reports ? ns / (double)n : -INFINITY;
}

static double work_loop(const struct overhead_round *round, uint64_t units)
{
    const struct overhead_exchange *const x = round->exchange;
    double ns = -INFINITY;
    if (x->measures)
        ns = time_work(x, units, round->iterations);
    else
        accompany_work(x, round->iterations);
    return x->reports ? ns / (double)round->iterations : -INFINITY;
}

static void take_full(void *context, double *values)
{
    const struct overhead_round *const round = context;
    values[OVERHEAD_BASE] = message_loop(round, 0);
    values[OVERHEAD_EMPTY] = work_loop(round, 0);
    values[OVERHEAD_ITER] = message_loop(round, round->units);
    values[OVERHEAD_WORK] = work_loop(round, round->units);
}

static void take_work(void *context, double *values)
{
    const struct overhead_round *const round = context;
    values[0] = message_loop(round, round->units);
    values[1] = work_loop(round, round->units);
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
