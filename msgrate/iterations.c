#include "msgrate/iterations.h"

#include "common/mpi/mpi_check.h"
#include "common/sampling/sampling.h"

#include <math.h>
#include <string.h>

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
    return bc_allocate_pages(msgrate_block_bytes(messages) * (size_t)messages->npeers,
                             "no memory for %d x %d messages of %lld bytes", messages->npeers,
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

/* Goes through the messages of a block from `sender` to `receiver`: writes them, or leaves them as
   they are, and returns how many are not what is sent. */
static int64_t go_through(const struct msgrate_messages *messages, unsigned char *block,
                          int64_t iteration, int sender, int receiver, bool write)
{
    int64_t wrong = 0;
    for (int m = 0; m < messages->count; m++) {
        const unsigned first = first_byte(iteration, sender, receiver, m);
        bool good = true;
        for (int64_t i = 0; i < messages->bytes; i++, block++) {
            if (write)
                *block = byte_at(first, i);
            good = *block == byte_at(first, i) && good;
        }
        wrong += !good;
    }
    return wrong;
}

void msgrate_write(const struct bc_run *run, const struct msgrate_messages *messages,
                   unsigned char *buffer, int64_t iteration)
{
    if (!run->settings.check)
        memset(buffer, (int)(iteration & 0x7f),
               msgrate_block_bytes(messages) * (size_t)messages->npeers);
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

void msgrate_sample(const struct bc_run *run, void (*iterate)(void *context, double *time_ns),
                    void *context, double seconds, struct msgrate_row *row)
{
    const struct bc_source source = {
        .quantities = 1, .take = iterate, .context = context, .clock_ns = run->own_clock.read_ns};
    row->in_time = bc_run_sample(run, &source, -1, seconds, &row->iterations);
}

bool msgrate_is_precise(const struct msgrate_bench *bench, const struct msgrate_row *row)
{
    return bc_run_is_precise(bench->run, &row->iterations, row->in_time,
                             &(struct bc_precise_value){.subtrahend = -1}, 1);
}

/* NAN without samples. */
static double rate_per_s(double messages, double iteration_ns)
{
    return iteration_ns > 0.0 ? messages / iteration_ns * 1e9 : NAN;
}

/* What the samples say. Local; rank 0. */
static void summarize(const struct msgrate_bench *bench, const struct msgrate_row *row,
                      struct msgrate_result *r)
{
    const struct bc_run *const run = bench->run;
    const int64_t messages = bench->parameters.messages;
    const int ranks = run->job.ranks;
    /* Messages that a rank sends and receives in an iteration. */
    const double count =
        row->one_partner ? (double)messages : 2.0 * bench->npeers * (double)messages;
    bc_run_dump(run, row->pattern, &row->iterations, 0);
    r->iteration = bc_run_summarize(run, &row->iterations, 0, -1);
    r->outcome = bc_run_outcome(run, &row->iterations, msgrate_is_precise(bench, row));
    r->pattern = row->pattern;
    r->job_size = ranks;
    r->npeers = bench->npeers;
    r->nmsgs = messages;
    r->nbytes = row->size_bytes;
    r->cache_size = bench->cache_bytes;
    r->ppn = bench->stride;
    r->iterations = (int64_t)r->iteration.count;
    r->rate_per_s = rate_per_s(count, r->iteration.value);
    r->rate_lo_per_s = rate_per_s(count, r->iteration.interval.hi);
    r->rate_hi_per_s = rate_per_s(count, r->iteration.interval.lo);
    r->total_rate_per_s = r->rate_per_s * (row->one_partner ? ranks / 2 * 2 : ranks);
}

void msgrate_conclude(const struct msgrate_bench *bench, struct msgrate_row *row,
                      struct msgrate_result *result)
{
    if (bench->run->job.rank == 0)
        summarize(bench, row, result);
    bc_samples_free(&row->iterations);
    const int64_t all_wrong = bc_sum_wrong(row->wrong, &result->outcome);
    if (all_wrong > 0)
        bc_output_remark(bench->run->output, "warning",
                         "wrong data in %lld messages, counted over ranks", (long long)all_wrong);
}
