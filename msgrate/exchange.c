#include "msgrate/exchange.h"

#include "common/machine/memory.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>

void msgrate_exchange_create(struct msgrate_exchange *exchange, struct msgrate_bench *bench,
                             int64_t size_bytes)
{
    const struct msgrate_parameters *const p = &bench->parameters;
    struct msgrate_exchange *const x = exchange;
    *x = (struct msgrate_exchange){
        .bench = bench,
        .messages = msgrate_messages_create((int)p->messages, size_bytes),
        .statuses = MPI_STATUSES_IGNORE,
    };
    x->send_buffer = msgrate_allocate(&x->messages, bench->npeers);
    x->receive_buffers[0] = msgrate_allocate(&x->messages, bench->npeers);
    x->receive_buffers[1] = x->receive_buffers[0];
    if (bench->run->settings.check)
        x->receive_buffers[1] = msgrate_allocate(&x->messages, bench->npeers);
    const int64_t requests = (int64_t)2 * bench->npeers * p->messages;
    x->requests = bc_allocate((size_t)requests, sizeof(MPI_Request),
                              "no memory for the requests of %lld messages", (long long)requests);
}

void msgrate_exchange_destroy(struct msgrate_exchange *exchange)
{
    if (exchange->receive_buffers[1] != exchange->receive_buffers[0])
        free(exchange->receive_buffers[1]);
    free(exchange->receive_buffers[0]);
    free(exchange->send_buffer);
    free(exchange->requests);
    msgrate_messages_destroy(&exchange->messages);
}

/* ---- iterations ------------------------------------------------------------------------------ */

static bool takes_part(const struct msgrate_exchange *x, const struct msgrate_pattern *pattern)
{
    return !pattern->one_partner || x->bench->partner >= 0;
}

static bool receives(const struct msgrate_exchange *x, const struct msgrate_pattern *pattern)
{
    return takes_part(x, pattern) && !(pattern->one_partner && x->bench->lower);
}

double msgrate_iterate(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern)
{
    struct msgrate_exchange *const x = exchange;
    struct msgrate_bench *const bench = x->bench;
    const bool part = takes_part(x, pattern);
    msgrate_time_fn *const time = bench->lower ? pattern->time_lower : pattern->time_upper;
    if (part) {
        bc_cache_flush_run(&bench->flush);
        msgrate_write_buffer(bench, &x->messages, pattern->one_partner, x->send_buffer,
                             x->iteration);
    }
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    double time_ns = -INFINITY;
    if (part)
        time_ns = (double)time(x);
    if (bench->run->settings.check && receives(x, pattern))
        x->wrong += msgrate_verify_buffer(bench, &x->messages, pattern->one_partner,
                                          msgrate_arriving(x), x->iteration);
    x->iteration++;
    return time_ns;
}

/* ---- samples --------------------------------------------------------------------------------- */

struct iterations {
    struct msgrate_exchange *exchange;
    const struct msgrate_pattern *pattern;
};

static void take(void *context, double *values)
{
    const struct iterations *const iterations = context;
    values[0] = msgrate_iterate(iterations->exchange, iterations->pattern);
}

void msgrate_measure(struct msgrate_exchange *exchange, const struct msgrate_pattern *pattern,
                     double seconds, struct msgrate_result *result)
{
    struct msgrate_exchange *const x = exchange;
    const bool part = takes_part(x, pattern);
    struct iterations iterations = {x, pattern};
    const struct bc_source source = {.quantities = 1, .take = take, .context = &iterations};
    x->iteration = x->wrong = 0;
    if (part && pattern->begin != NULL)
        pattern->begin(x);
    msgrate_sample(x->bench, &source, pattern->name, seconds, result);
    if (part && pattern->end != NULL)
        pattern->end(x);
    msgrate_conclude(x->bench, &x->messages, pattern->one_partner, x->wrong, result);
}
