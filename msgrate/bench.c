/* SPDX-License-Identifier: BSD-3-Clause */
#include "msgrate/bench.h"
#include "msgrate/warnings.h"

#include "common/job/job.h"
#include "common/memory/placement.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shared state ---------------------------------------------------------------------------- */

static void create_flush(struct msgrate_bench *bench)
{
    /* Caches may differ between ranks: all flush with the maximum. */
    int64_t bytes[2] = {bench->parameters.cache_bytes, (int64_t)bc_llc_bytes()};
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD));
    bench->parameters.cache_bytes = bytes[0];
    if (!bc_cache_flush_create(&bench->flush, (size_t)bytes[0]))
        bc_abort("no memory for a flush of %lld bytes", (long long)bytes[0]);
    struct bc_output *const output = bench->run->output;
    if (bytes[0] == 0)
        bc_output_remark(output, MSGRATE_NOTE_WARM);
    else if (bytes[0] < bytes[1])
        bc_output_remark(output, MSGRATE_WARNING_SMALL_FLUSH, (long long)bytes[0],
                         (long long)bytes[1]);
}

void msgrate_open(struct msgrate_bench *bench, struct bc_run *run)
{
    bench->run = run;
    msgrate_peers_create(bench);
    if (bench->parameters.lowers_peers)
        bc_output_remark(run->output, MSGRATE_NOTE_FEWER_PEERS, bench->npeers,
                         bench->npeers == 1 ? "" : "s",
                         (long long)msgrate_default_parameters.peers);
    create_flush(bench);
    if (run->job.ranks % 2 != 0)
        bc_output_remark(run->output, MSGRATE_NOTE_RESTS,
                         bc_node_order_rank(&bench->by_node, run->job.ranks - 1));
}

void msgrate_close(struct msgrate_bench *bench)
{
    bc_cache_flush_destroy(&bench->flush);
    bc_node_order_destroy(&bench->by_node);
    free(bench->sends);
}

/* ---- messages -------------------------------------------------------------------------------- */

struct msgrate_messages msgrate_messages_of(const struct msgrate_bench *bench, int64_t bytes,
                                            bool one_partner)
{
    struct msgrate_messages messages = {
        .count = (int)bench->parameters.messages,
        .bytes = bytes,
        .npeers = one_partner ? bench->partner >= 0 : bench->npeers,
        .sends = one_partner ? &bench->partner : bench->sends,
        .receives = one_partner ? &bench->partner : bench->receives,
    };
    bc_amount_create(&messages.amount, bytes, MPI_BYTE);
    return messages;
}

unsigned char *msgrate_allocate(const struct msgrate_messages *messages)
{
    return bc_allocate_buffer(msgrate_buffer_bytes(messages),
                              "no memory for %d x %d messages of %lld bytes", messages->npeers,
                              messages->count, (long long)messages->bytes);
}

/* Writes or verifies the messages of a block from `sender` to `receiver`. Returns the number of
   wrong messages. The first byte differs between neighbouring iterations, ranks and messages. Bytes
   repeat after 251, a prime, so that data misplaced by a power of two shows. */
static int64_t go_through(const struct msgrate_messages *messages, unsigned char *block,
                          int64_t iteration, int sender, int receiver, bool write)
{
    const unsigned first =
        (unsigned)(iteration * 101) + (unsigned)sender * 59 + (unsigned)receiver * 31 + 1;
    int64_t wrong = 0;
    for (int m = 0; m < messages->count; m++) {
        bool good = true;
        for (int64_t i = 0; i < messages->bytes; i++, block++) {
            const unsigned char byte =
                (unsigned char)((first + (unsigned)m * 7 + (uint64_t)i * 13) % 251);
            if (write)
                *block = byte;
            good = *block == byte && good;
        }
        wrong += !good;
    }
    return wrong;
}

void msgrate_write(const struct bc_run *run, const struct msgrate_messages *messages,
                   unsigned char *buffer, int64_t iteration)
{
    if (!run->settings.check)
        memset(buffer, (int)(iteration & 0x7f), msgrate_buffer_bytes(messages));
    for (int i = 0; i < messages->npeers && run->settings.check; i++)
        go_through(messages, msgrate_block(messages, buffer, i), iteration, run->job.rank,
                   messages->sends[i], true);
}

int64_t msgrate_verify(const struct bc_run *run, const struct msgrate_messages *messages,
                       unsigned char *buffer, int64_t iteration)
{
    int64_t wrong = 0;
    for (int i = 0; i < messages->npeers; i++)
        wrong += go_through(messages, msgrate_block(messages, buffer, i), iteration,
                            messages->receives[i], run->job.rank, false);
    return wrong;
}

/* ---- rows ------------------------------------------------------------------------------------ */

const struct bc_quantities msgrate_quantities = {
    .count = 1,
    .clock_readings = 1.0,
    .batching = BC_BATCHES,
    .repetitions = 1,
};

/* Returns NAN if there are no samples. */
static double rate_per_s(double messages, double iteration_ns)
{
    return iteration_ns > 0.0 ? messages / iteration_ns * 1e9 : NAN;
}

void msgrate_conclude(const struct msgrate_bench *bench, struct msgrate_row *row,
                      struct msgrate_result *r)
{
    const int64_t messages = bench->parameters.messages;
    const int ranks = bench->run->job.ranks;
    /* Messages that a rank sends and receives in an iteration. */
    const double count =
        row->one_partner ? (double)messages : 2.0 * bench->npeers * (double)messages;
    bc_store_conclude(bench->run, &row->iterations, row->pattern, &r->iterations);
    const struct bc_summary *const iteration = &r->iterations.repetition;
    r->pattern = row->pattern;
    r->job_size = ranks;
    r->npeers = bench->npeers;
    r->nmsgs = messages;
    r->nbytes = row->size_bytes;
    r->cache_size = bench->parameters.cache_bytes;
    r->ppn = bench->stride;
    r->buffers = bc_buffers_word(bench->parameters.buffers);
    if (msgrate_has_staged(bench))
        r->staged = bc_staged_of(&bench->parameters.memory, &r->iterations.counterpart,
                                 &r->iterations.gain, 1.0);
    r->rate_per_s = rate_per_s(count, iteration->value);
    r->rate_lo_per_s = rate_per_s(count, iteration->interval.hi);
    r->rate_hi_per_s = rate_per_s(count, iteration->interval.lo);
    r->total_rate_per_s = r->rate_per_s * (row->one_partner ? ranks / 2 * 2 : ranks);
    const int64_t wrong = bc_sum_wrong(row->wrong, &r->iterations.outcome);
    if (wrong > 0)
        bc_output_remark(bench->run->output, MSGRATE_WARNING_WRONG_DATA, (long long)wrong);
}
