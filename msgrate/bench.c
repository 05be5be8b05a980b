#include "msgrate/bench.h"

#include "common/machine/memory.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/peers.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* ---- peers ----------------------------------------------------------------------------------- */

/* msgrate_within_fn; the context is the bench. Collective. */
static void count_within(void *context, int first, int strides, int64_t *within)
{
    const struct msgrate_bench *const bench = context;
    int node_rank, node_ranks;
    BC_MPI(MPI_Comm_rank(bench->run->job.node_comm, &node_rank));
    BC_MPI(MPI_Comm_size(bench->run->job.node_comm, &node_ranks));
    for (int i = 0; i < strides; i++) /* one rank counts for its node */
        within[i] = node_rank == 0 ? msgrate_peers_within(node_ranks, bench->run->job.ranks,
                                                          bench->npeers, first + i)
                                   : 0;
    bc_harness_allreduce(MPI_IN_PLACE, within, strides, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* The stride that was asked for, or the one that puts the most peers on other nodes. Collective. */
static int choose_stride(struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    if (bench->parameters.stride > 0)
        return (int)bench->parameters.stride;
    if (job->nodes == 1)
        return 1;
    return msgrate_peers_stride(job->ranks, bench->npeers, count_within, bench);
}

/* Says how far peers are apart, and how many peers and partners are on other nodes. Collective. */
static void note_peers(const struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    struct bc_output *const output = bench->run->output;
    if (job->nodes == 1)
        return;
    const int pct = bc_crossing_pct(job, bench->sends, bench->npeers);
    if (bench->parameters.stride > 0)
        bc_output_remark(output, "note",
                         "distance between peers, ranks ordered by node: %d, which "
                         "puts %d %% of them on other nodes",
                         bench->stride, pct);
    else
        bc_output_remark(output, "note",
                         "distance between peers, ranks ordered by node: %d, the "
                         "smallest that puts the most of them, %d %%, on other nodes "
                         "(-n sets it)",
                         bench->stride, pct);
    bc_crossing_note(job, output, "single direction: ", bench->partner);
}

static int *allocate_peers(int count)
{
    return bc_allocate((size_t)count, sizeof(int), "no memory for %d peers", count);
}

static void create_peers(struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    bc_node_order_create(&bench->by_node, job);
    const int place = bench->by_node.place;
    bench->npeers = (int)bench->parameters.peers;
    bench->stride = choose_stride(bench);
    bench->sends = allocate_peers(bench->npeers);
    bench->receives = allocate_peers(bench->npeers);
    msgrate_peers_list(place, job->ranks, bench->npeers, bench->stride, bench->sends,
                       bench->receives);
    for (int i = 0; i < bench->npeers; i++) {
        bench->sends[i] = bc_node_order_rank(&bench->by_node, bench->sends[i]);
        bench->receives[i] = bc_node_order_rank(&bench->by_node, bench->receives[i]);
    }
    bench->partner = bc_node_order_rank(&bench->by_node, msgrate_partner(place, job->ranks));
    bench->lower = place < job->ranks / 2;
    note_peers(bench);
}

/* ---- the flush ------------------------------------------------------------------------------- */

static void create_flush(struct msgrate_bench *bench)
{
    /* Caches may differ between ranks: all flush with the maximum. */
    int64_t bytes[2] = {msgrate_flush_bytes(&bench->parameters), (int64_t)bc_cache_llc_bytes()};
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD));
    bench->cache_bytes = bytes[0];
    if (!bc_cache_flush_create(&bench->flush, (size_t)bytes[0]))
        bc_abort("no memory for a flush of %lld bytes", (long long)bytes[0]);
    struct bc_output *const output = bench->run->output;
    if (bytes[0] == 0)
        bc_output_remark(output, "note",
                         "the caches are not flushed: rates are "
                         "those of warm caches");
    else if (bytes[0] < bytes[1])
        bc_output_remark(output, "warning",
                         "the flush, %lld bytes, is smaller than the "
                         "last-level cache, %lld bytes, which may keep some of "
                         "the messages: -c llc flushes all of it",
                         (long long)bytes[0], (long long)bytes[1]);
}

/* ---- life ------------------------------------------------------------------------------------ */

void msgrate_open(void *state, struct bc_run *run)
{
    struct msgrate_bench *const bench = state;
    bench->run = run;
    create_peers(bench);
    create_flush(bench);
    if (run->job.ranks % 2 != 0)
        bc_output_remark(run->output, "note",
                         "single direction: rank %d rests and doesn't count, "
                         "for want of a partner",
                         bc_node_order_rank(&bench->by_node, run->job.ranks - 1));
}

void msgrate_close(void *state)
{
    struct msgrate_bench *const bench = state;
    bc_cache_flush_destroy(&bench->flush);
    bc_node_order_destroy(&bench->by_node);
    free(bench->sends);
    free(bench->receives);
}

/* ---- data ------------------------------------------------------------------------------------ */

void msgrate_write_buffer(const struct msgrate_bench *bench,
                          const struct msgrate_messages *messages, bool one_partner,
                          unsigned char *buffer, int64_t iteration)
{
    const int blocks = one_partner ? 1 : bench->npeers;
    if (!bench->run->settings.check) {
        memset(buffer, (int)(iteration & 0x7f), msgrate_block_bytes(messages) * (size_t)blocks);
        return;
    }
    for (int i = 0; i < blocks; i++)
        msgrate_write_block(messages, msgrate_block(messages, buffer, i), iteration,
                            bench->run->job.rank, one_partner ? bench->partner : bench->sends[i]);
}

int64_t msgrate_verify_buffer(const struct msgrate_bench *bench,
                              const struct msgrate_messages *messages, bool one_partner,
                              unsigned char *buffer, int64_t iteration)
{
    const int blocks = one_partner ? 1 : bench->npeers;
    int64_t wrong = 0;
    for (int i = 0; i < blocks; i++)
        wrong += msgrate_count_wrong(messages, msgrate_block(messages, buffer, i), iteration,
                                     one_partner ? bench->partner : bench->receives[i],
                                     bench->run->job.rank);
    return wrong;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void msgrate_sample(const struct msgrate_bench *bench, const struct bc_source *source,
                    const char *pattern, double seconds, struct msgrate_result *result)
{
    const struct bc_run *const run = bench->run;
    struct bc_source timed = *source;
    timed.clock_ns = run->own_clock.read_ns;
    const bool in_time = bc_run_sample(run, &timed, seconds, &result->iteration);
    const struct bc_samples *const samples = bc_sampler_samples(run->sampler);
    bc_run_dump(run, pattern, samples->values[0], samples->count);
    result->outcome = bc_run_outcome(run, in_time);
}

/* NAN without samples. */
static double rate_per_s(double messages, double iteration_ns)
{
    return iteration_ns > 0.0 ? messages / iteration_ns * 1e9 : NAN;
}

void msgrate_conclude(const struct msgrate_bench *bench, const struct msgrate_messages *messages,
                      bool one_partner, int64_t wrong, struct msgrate_result *result)
{
    struct msgrate_result *const r = result;
    const int ranks = bench->run->job.ranks;
    /* Messages that a rank sends and receives in an iteration. */
    const double count = one_partner ? messages->count : 2.0 * bench->npeers * messages->count;
    int64_t all_wrong = 0;
    bc_harness_reduce(&wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    r->job_size = ranks;
    r->npeers = bench->npeers;
    r->nmsgs = messages->count;
    r->nbytes = messages->bytes;
    r->cache_size = bench->cache_bytes;
    r->ppn = bench->stride;
    r->iterations = (int64_t)r->iteration.count;
    r->rate_per_s = rate_per_s(count, r->iteration.value);
    r->rate_lo_per_s = rate_per_s(count, r->iteration.interval.hi);
    r->rate_hi_per_s = rate_per_s(count, r->iteration.interval.lo);
    r->total_rate_per_s = r->rate_per_s * (one_partner ? ranks / 2 * 2 : ranks);
    if (all_wrong == 0)
        return;
    r->outcome.status = BC_FAIL;
    bc_output_remark(bench->run->output, "warning",
                     "wrong data in %lld messages, counted over ranks", (long long)all_wrong);
}
