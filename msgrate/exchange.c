#include "msgrate/exchange.h"

#include "common/mpi/mpi_check.h"

#include <stdlib.h>

/* ---- data ------------------------------------------------------------------------------------ */

/* Writes what is sent, where the program has it. */
static void write_data(struct msgrate_exchange *x)
{
    const struct bc_buffer *const copied = msgrate_copied_from(x);
    struct bc_buffer buffer = copied != NULL ? *copied : x->send;
    msgrate_write(x->bench->run, &x->messages, buffer.image, x->iteration);
    bc_buffer_write(&buffer, msgrate_buffer_bytes(&x->messages));
}

/* The number of wrong messages where the program wants to have them; all of them if a kernel sees
   other data than a copy. */
static int64_t count_wrong(struct msgrate_exchange *x)
{
    const struct bc_buffer *const copied = msgrate_copied_to(x);
    struct bc_buffer buffer = copied != NULL ? *copied : *msgrate_arriving(x, 0);
    if (!bc_buffer_read(&buffer, msgrate_buffer_bytes(&x->messages)))
        return (int64_t)x->messages.count * x->messages.npeers;
    return msgrate_verify(x->bench->run, &x->messages, buffer.image, x->iteration);
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* Other memory for what is sent, and for the next receives that are posted in the time. */
static void renew(struct msgrate_exchange *x)
{
    bc_buffer_renew(&x->send);
    bc_buffer_renew(msgrate_arriving(x, x->pattern->begin != NULL));
}

/* Posts the receives of an iteration ahead; `end` used their memory before. */
static void begin(struct msgrate_exchange *x, bool renews)
{
    if (renews)
        bc_buffer_renew(msgrate_arriving(x, 0));
    x->pattern->begin(x);
}

/* The time of one iteration in ns, with what comes before and after it. */
static double iterate_way(struct msgrate_exchange *x, int64_t (*time)(struct msgrate_exchange *))
{
    /* Receives that are posted ahead must not be there while the counterpart's messages come. */
    const bool begins = x->pattern->begin != NULL && (x->staged != NULL || x->direct != NULL);
    const bool renews = x->bench->parameters.buffers == BC_BUFFERS_NEW && x->direct == NULL;
    double ns = BC_NO_PART;
    if (begins)
        begin(x, renews);
    if (renews)
        renew(x);
    if (x->messages.npeers > 0) {
        bc_cache_flush_run(&x->bench->flush);
        write_data(x);
    }
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (x->messages.npeers > 0)
        ns = (double)time(x);
    if (x->bench->run->settings.check && msgrate_receives(x))
        x->wrong += count_wrong(x);
    x->iteration++;
    if (begins)
        x->pattern->end(x);
    return ns;
}

/* bc_repeat_fn, of one repetition; and of the counterpart's */

static double iterate(void *context, int64_t repetitions)
{
    (void)repetitions;
    return iterate_way(context, msgrate_time);
}

static double iterate_staged(void *context, int64_t repetitions)
{
    (void)repetitions;
    return iterate_way(((struct msgrate_exchange *)context)->staged, msgrate_time_staged);
}

/* ---- a visit --------------------------------------------------------------------------------- */

static void create(struct msgrate_exchange *x, const enum bc_memory of[2])
{
    const struct msgrate_bench *const bench = x->bench;
    const int64_t requests = (int64_t)2 * x->messages.npeers * x->messages.count;
    const size_t bytes = msgrate_buffer_bytes(&x->messages);
    const bool two = bench->run->settings.check || bench->parameters.buffers == BC_BUFFERS_NEW;
    x->receive_count = two ? 2 : 1;
    bc_buffer_create(&x->send, bench->device, of[0], bytes, true, MSGRATE_MEMORY_ADVICE);
    for (int i = 0; i < x->receive_count; i++)
        bc_buffer_create(&x->receive[i], bench->device, of[1], bytes, bench->run->settings.check,
                         MSGRATE_MEMORY_ADVICE);
    x->requests = bc_allocate((size_t)requests, sizeof(MPI_Request),
                              "no memory for the requests of %lld messages", (long long)requests);
}

static void destroy(struct msgrate_exchange *x)
{
    for (int i = 0; i < x->receive_count; i++)
        bc_buffer_destroy(&x->receive[i]);
    bc_buffer_destroy(&x->send);
    free(x->requests);
}

/* Iterations of both ways, or of the first alone. */
static void sample(struct msgrate_exchange *x, double seconds, struct msgrate_row *row)
{
    const struct msgrate_pattern *const pattern = x->pattern;
    const bool alone = x->staged == NULL && pattern->begin != NULL;
    if (alone)
        pattern->begin(x);
    msgrate_sample(x->bench->run, iterate, x->staged != NULL ? iterate_staged : NULL, x, seconds,
                   row);
    if (alone)
        pattern->end(x);
}

void msgrate_exchange_visit(struct msgrate_bench *bench, const struct msgrate_pattern *pattern,
                            double seconds, struct msgrate_row *row)
{
    static const enum bc_memory pinned[2] = {BC_MEMORY_PINNED, BC_MEMORY_PINNED};
    struct msgrate_exchange x = {
        .messages = msgrate_messages_of(bench, row->size_bytes, pattern->one_partner),
        .statuses = MPI_STATUSES_IGNORE,
        .bench = bench,
        .pattern = pattern,
    };
    struct msgrate_exchange staged = x;
    staged.direct = &x;
    create(&x, bench->parameters.memory.of);
    if (msgrate_has_staged(bench)) {
        x.staged = &staged;
        create(&staged, pinned);
    }
    sample(&x, seconds, row);
    row->iterations.wrong += x.wrong + staged.wrong;
    if (x.staged != NULL)
        destroy(&staged);
    destroy(&x);
    bc_amount_destroy(&x.messages.amount);
}
