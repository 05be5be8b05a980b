#include "msgrate/exchange.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/sampling/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------- */

unsigned char *msgrate_allocate(const struct msgrate_messages *messages, int blocks)
{
    return bc_allocate_pages(msgrate_block_bytes(messages) * (size_t)blocks,
                             "no memory for %d x %d messages of %lld bytes", blocks,
                             messages->count, (long long)messages->bytes);
}

/* A message's first byte, which differs between neighbouring iterations, ranks and messages. */
static unsigned first_byte(int64_t iteration, int sender, int receiver, int message)
{
    return (unsigned)(iteration * 101) + (unsigned)sender * 59 + (unsigned)receiver * 31 +
           (unsigned)message * 7 + 1;
}

/* Byte i of a message whose first byte is `first`. Bytes repeat themselves after 251, a prime, so
   that data a power of two away from its place shows. */
static unsigned char byte_at(unsigned first, int64_t i)
{
    return (unsigned char)((first + (uint64_t)i * 13) % 251);
}

void msgrate_write_block(const struct msgrate_messages *messages, unsigned char *block,
                         int64_t iteration, int sender, int receiver)
{
    for (int m = 0; m < messages->count; m++) {
        const unsigned first = first_byte(iteration, sender, receiver, m);
        for (int64_t i = 0; i < messages->bytes; i++)
            *block++ = byte_at(first, i);
    }
}

int64_t msgrate_count_wrong(const struct msgrate_messages *messages, const unsigned char *block,
                            int64_t iteration, int sender, int receiver)
{
    int64_t wrong = 0;
    for (int m = 0; m < messages->count; m++) {
        const unsigned first = first_byte(iteration, sender, receiver, m);
        bool good = true;
        for (int64_t i = 0; i < messages->bytes; i++)
            good = *block++ == byte_at(first, i) && good;
        wrong += !good;
    }
    return wrong;
}

/* ---- iterations of both kinds ---------------------------------------------------------------- */

void msgrate_choose(struct msgrate_exchange *x, const struct msgrate_pattern *pattern)
{
    const struct msgrate_bench *const bench = x->bench;
    x->pattern = pattern;
    x->npeers = pattern->one_partner ? bench->partner >= 0 : bench->npeers;
    x->sends = pattern->one_partner ? &bench->partner : bench->sends;
    x->receives = pattern->one_partner ? &bench->partner : bench->receives;
}

double msgrate_time(const struct msgrate_exchange *x)
{
    msgrate_time_fn *time = x->bench->lower ? x->pattern->time_lower : x->pattern->time_upper;
    if (x->npeers == 0)
        time = x->pattern->time_resting;
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    return time != NULL ? (double)time(x) : -INFINITY;
}

void msgrate_write(const struct msgrate_exchange *x, unsigned char *buffer, int64_t iteration)
{
    const struct bc_run *const run = x->bench->run;
    if (!run->settings.check) {
        memset(buffer, (int)(iteration & 0x7f),
               msgrate_block_bytes(&x->messages) * (size_t)x->npeers);
        return;
    }
    for (int i = 0; i < x->npeers; i++)
        msgrate_write_block(&x->messages, msgrate_block(&x->messages, buffer, i), iteration,
                            run->job.rank, x->sends[i]);
}

void msgrate_verify(struct msgrate_exchange *x, unsigned char *buffer)
{
    for (int i = 0; i < x->npeers; i++)
        x->wrong += msgrate_count_wrong(&x->messages, msgrate_block(&x->messages, buffer, i),
                                        x->iteration, x->receives[i], x->bench->run->job.rank);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* NAN without samples. */
static double rate_per_s(double messages, double iteration_ns)
{
    return iteration_ns > 0.0 ? messages / iteration_ns * 1e9 : NAN;
}

void msgrate_visit(struct msgrate_exchange *x, double seconds, struct msgrate_row *row)
{
    const struct bc_run *const run = x->bench->run;
    const struct bc_source source = {
        .quantities = 1, .take = x->iterate, .context = x, .clock_ns = run->own_clock.read_ns};
    x->iteration = x->wrong = 0;
    if (x->pattern->begin != NULL)
        x->pattern->begin(x);
    row->in_time = bc_run_sample(run, &source, -1, seconds, &row->iterations);
    if (x->pattern->end != NULL)
        x->pattern->end(x);
    row->wrong += x->wrong;
}

bool msgrate_is_precise(const struct msgrate_bench *bench, const struct msgrate_row *row)
{
    return bc_run_is_precise(bench->run, &row->iterations, row->in_time,
                             &(struct bc_precise_value){.subtrahend = -1}, 1);
}

/* What the samples say. Local; rank 0. */
static void summarize(const struct msgrate_bench *bench, const struct msgrate_key *key,
                      const struct msgrate_row *row, struct msgrate_result *r)
{
    const struct bc_run *const run = bench->run;
    const int64_t messages = bench->parameters.messages;
    const bool one_partner = key->pattern->one_partner;
    const int ranks = run->job.ranks;
    /* Messages that a rank sends and receives in an iteration. */
    const double count = one_partner ? (double)messages : 2.0 * bench->npeers * (double)messages;
    bc_run_dump(run, key->pattern->name, &row->iterations, 0);
    r->iteration = bc_run_summarize(run, &row->iterations, 0, -1);
    r->outcome = bc_run_outcome(run, &row->iterations, msgrate_is_precise(bench, row));
    r->pattern = key->pattern->name;
    r->job_size = ranks;
    r->npeers = bench->npeers;
    r->nmsgs = messages;
    r->nbytes = key->size_bytes;
    r->cache_size = bench->cache_bytes;
    r->ppn = bench->stride;
    r->iterations = (int64_t)r->iteration.count;
    r->rate_per_s = rate_per_s(count, r->iteration.value);
    r->rate_lo_per_s = rate_per_s(count, r->iteration.interval.hi);
    r->rate_hi_per_s = rate_per_s(count, r->iteration.interval.lo);
    r->total_rate_per_s = r->rate_per_s * (one_partner ? ranks / 2 * 2 : ranks);
}

void msgrate_conclude(const struct msgrate_bench *bench, const struct msgrate_key *key,
                      struct msgrate_row *row, struct msgrate_result *result)
{
    int64_t all_wrong = 0;
    bc_harness_reduce(&row->wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (bench->run->job.rank == 0)
        summarize(bench, key, row, result);
    bc_samples_free(&row->iterations);
    if (all_wrong == 0)
        return;
    result->outcome.status = BC_FAIL;
    bc_output_remark(bench->run->output, "warning",
                     "wrong data in %lld messages, counted over ranks", (long long)all_wrong);
}

/* ---- iterations with two-sided communication ------------------------------------------------- */

static void iterate(void *context, double *time_ns)
{
    struct msgrate_exchange *const x = context;
    const bool receives = x->npeers > 0 && !(x->pattern->one_partner && x->bench->lower);
    if (x->npeers > 0) {
        bc_cache_flush_run(&x->bench->flush);
        msgrate_write(x, x->send_buffer, x->iteration);
    }
    *time_ns = msgrate_time(x);
    if (x->bench->run->settings.check && receives)
        msgrate_verify(x, msgrate_arriving(x));
    x->iteration++;
}

void msgrate_exchange_create(struct msgrate_exchange *x, struct msgrate_bench *bench,
                             const struct msgrate_key *key)
{
    const int count = (int)bench->parameters.messages;
    *x = (struct msgrate_exchange){
        .bench = bench,
        .messages = {.count = count, .bytes = key->size_bytes},
        .iterate = iterate,
        .statuses = MPI_STATUSES_IGNORE,
    };
    msgrate_choose(x, key->pattern);
    bc_amount_create(&x->messages.amount, key->size_bytes, MPI_BYTE);
    x->send_buffer = msgrate_allocate(&x->messages, bench->npeers);
    x->receive_buffers[0] = msgrate_allocate(&x->messages, bench->npeers);
    x->receive_buffers[1] = x->receive_buffers[0];
    if (bench->run->settings.check)
        x->receive_buffers[1] = msgrate_allocate(&x->messages, bench->npeers);
    const int64_t requests = (int64_t)2 * bench->npeers * count;
    x->requests = bc_allocate((size_t)requests, sizeof(MPI_Request),
                              "no memory for the requests of %lld messages", (long long)requests);
}

void msgrate_exchange_destroy(struct msgrate_exchange *x)
{
    if (x->receive_buffers[1] != x->receive_buffers[0])
        free(x->receive_buffers[1]);
    free(x->receive_buffers[0]);
    free(x->send_buffer);
    free(x->requests);
    bc_amount_destroy(&x->messages.amount);
}
