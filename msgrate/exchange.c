/* SPDX-License-Identifier: BSD-3-Clause */
#include "msgrate/exchange.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>

/* ---- data ------------------------------------------------------------------------------------ */

/* Writes the data to be sent into the buffer that it is copied from, if any, or sent from. */
static void write_data(struct msgrate_exchange *x)
{
    const struct bc_buffer *const copied = msgrate_copied_from(x);
    struct bc_buffer buffer = copied != NULL ? *copied : x->send;
    msgrate_write(x->bench->run, &x->messages, buffer.image, x->iteration);
    bc_buffer_write(&buffer, msgrate_buffer_bytes(&x->messages));
}

/* Returns the number of wrong messages at their final destination, or all if a GPU kernel sees data
   different from a copy. */
static int64_t count_wrong(struct msgrate_exchange *x)
{
    const struct bc_buffer *const copied = msgrate_copied_to(x);
    struct bc_buffer buffer = copied != NULL ? *copied : *msgrate_arriving(x, 0);
    if (!bc_buffer_read(&buffer, msgrate_buffer_bytes(&x->messages)))
        return (int64_t)x->messages.count * x->messages.npeers;
    return msgrate_verify(x->bench->run, &x->messages, buffer.image, x->iteration);
}

/* ---- iterations ------------------------------------------------------------------------------ */

void msgrate_exchange_prepare(struct msgrate_exchange *x)
{
    const bool posts_ahead = x->pattern->begin != NULL;
    const bool renews = x->bench->parameters.buffers == BC_BUFFERS_NEW && x->direct == NULL;
    if (posts_ahead && msgrate_has_staged(x->bench)) {
        if (renews) /* `end` used this memory */
            bc_buffer_renew(msgrate_arriving(x, 0));
        x->pattern->begin(x);
    }
    if (renews) {
        bc_buffer_renew(&x->send);
        bc_buffer_renew(msgrate_arriving(x, posts_ahead)); /* for receives in the timed region */
    }
    if (x->messages.npeers > 0) {
        bc_cache_flush_run(&x->bench->flush);
        write_data(x);
    }
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

int64_t msgrate_exchange_finish(struct msgrate_exchange *x)
{
    const bool checks = x->bench->run->settings.check && msgrate_receives(x);
    const int64_t wrong = checks ? count_wrong(x) : 0;
    x->iteration++;
    if (x->pattern->end != NULL && msgrate_has_staged(x->bench))
        x->pattern->end(x);
    return wrong;
}

/* ---- life ------------------------------------------------------------------------------------ */

void msgrate_exchange_create(struct msgrate_exchange *x, struct msgrate_bench *bench,
                             const struct msgrate_pattern *pattern, int64_t size_bytes,
                             const struct msgrate_exchange *direct)
{
    static const enum bc_memory pinned[2] = {BC_MEMORY_PINNED, BC_MEMORY_PINNED};
    const enum bc_memory *const of = direct != NULL ? pinned : bench->parameters.memory.of;
    const bool check = bench->run->settings.check;
    *x = (struct msgrate_exchange){
        .messages = msgrate_messages_of(bench, size_bytes, pattern->one_partner),
        .receive_count = check || bench->parameters.buffers == BC_BUFFERS_NEW ? 2 : 1,
        .statuses = MPI_STATUSES_IGNORE,
        .bench = bench,
        .pattern = pattern,
        .direct = direct,
    };
    const int64_t requests = (int64_t)2 * x->messages.npeers * x->messages.count;
    const size_t bytes = msgrate_buffer_bytes(&x->messages);
    bc_buffer_create(&x->send, bench->device, of[0], bytes, true, MSGRATE_MEMORY_ADVICE);
    for (int i = 0; i < x->receive_count; i++)
        bc_buffer_create(&x->receive[i], bench->device, of[1], bytes, check, MSGRATE_MEMORY_ADVICE);
    x->requests = bc_allocate((size_t)requests, sizeof(MPI_Request),
                              "no memory for the requests of %lld messages", (long long)requests);
    if (pattern->begin != NULL && !msgrate_has_staged(bench))
        pattern->begin(x);
}

void msgrate_exchange_destroy(struct msgrate_exchange *x)
{
    if (x->pattern->end != NULL && !msgrate_has_staged(x->bench))
        x->pattern->end(x);
    for (int i = 0; i < x->receive_count; i++)
        bc_buffer_destroy(&x->receive[i]);
    bc_buffer_destroy(&x->send);
    free(x->requests);
    bc_amount_destroy(&x->messages.amount);
}
