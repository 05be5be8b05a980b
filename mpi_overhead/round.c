#include "mpi_overhead/round.h"

#include "mpi_overhead/check.h"

#include <math.h>

static const struct overhead_loop *transfer_loop(const struct overhead_exchange *x)
{
    return &overhead_message_loops[x->direction];
}

/* The overhead is the time of this loop less that of work_alone_loop. */
static const struct overhead_loop *overhead_loop(const struct overhead_exchange *x)
{
    return x->token ? &overhead_token_message_loops[x->direction] : transfer_loop(x);
}

static const struct overhead_loop *work_alone_loop(const struct overhead_exchange *x)
{
    return x->token ? &overhead_token_loop : &overhead_empty_loop;
}

/* Runs this rank's end of the loop. */
static double run_loop(const struct overhead_loop *loop, const struct overhead_exchange *x,
                       uint64_t units, int64_t iterations)
{
    if (x->measures)
        return loop->measurer(x, units, iterations);
    return loop->partner(x, 0, iterations);
}

/* With --check each iteration is a loop of its own, and data is written and verified between the
   loops. Loops without a message are cut up alike, so that the clock's cost cancels. */
static double run_verified(const struct overhead_loop *loop, struct overhead_exchange *x,
                           uint64_t units, int64_t iterations)
{
    double ns = 0.0;
    for (int64_t i = 0; i < iterations; i++) {
        if (loop->message)
            overhead_prepare_data(x);
        ns += run_loop(loop, x, units, 1);
        if (loop->message)
            overhead_verify_data(x);
    }
    return ns;
}

/* The time of an iteration in ns, or -INFINITY on ranks whose times don't count. */
static double iteration_ns(const struct overhead_round *round, const struct overhead_loop *loop,
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
    values[OVERHEAD_EMPTY] = iteration_ns(round, &overhead_empty_loop, 0);
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
    return (struct bc_source){.quantities = 2, .take = take_work, .context = round};
}
