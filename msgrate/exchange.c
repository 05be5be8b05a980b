#include "msgrate/exchange.h"

#include "common/mpi/mpi_check.h"

#include <stdlib.h>

/* bc_repeat_fn, of one repetition */
static double iterate(void *context, int64_t repetitions)
{
    (void)repetitions;
    struct msgrate_exchange *const x = context;
    const struct bc_run *const run = x->bench->run;
    const bool receives = !(x->pattern->one_partner && x->bench->lower);
    if (x->messages.npeers > 0) {
        bc_cache_flush_run(&x->bench->flush);
        msgrate_write(run, &x->messages, x->send_buffer, x->iteration);
    }
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    const double ns = x->messages.npeers > 0 ? (double)x->pattern->time(x) : BC_NO_PART;
    if (run->settings.check && receives)
        x->wrong += msgrate_verify(run, &x->messages, msgrate_arriving(x), x->iteration);
    x->iteration++;
    return ns;
}

static void create(struct msgrate_exchange *x)
{
    const int64_t requests = (int64_t)2 * x->messages.npeers * x->messages.count;
    x->send_buffer = msgrate_allocate(&x->messages);
    x->receive_buffers[0] = x->receive_buffers[1] = msgrate_allocate(&x->messages);
    if (x->bench->run->settings.check)
        x->receive_buffers[1] = msgrate_allocate(&x->messages);
    x->requests = bc_allocate((size_t)requests, sizeof(MPI_Request),
                              "no memory for the requests of %lld messages", (long long)requests);
}

static void destroy(struct msgrate_exchange *x)
{
    if (x->receive_buffers[1] != x->receive_buffers[0])
        free(x->receive_buffers[1]);
    free(x->receive_buffers[0]);
    free(x->send_buffer);
    free(x->requests);
    bc_amount_destroy(&x->messages.amount);
}

void msgrate_exchange_visit(struct msgrate_bench *bench, const struct msgrate_pattern *pattern,
                            double seconds, struct msgrate_row *row)
{
    struct msgrate_exchange x = {
        .messages = msgrate_messages_of(bench, row->size_bytes, pattern->one_partner),
        .statuses = MPI_STATUSES_IGNORE,
        .bench = bench,
        .pattern = pattern,
    };
    create(&x);
    if (pattern->begin != NULL)
        pattern->begin(&x);
    msgrate_sample(bench->run, iterate, &x, seconds, row);
    if (pattern->end != NULL)
        pattern->end(&x);
    row->iterations.wrong += x.wrong;
    destroy(&x);
}
