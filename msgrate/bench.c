#include "msgrate/bench.h"

#include "common/mpi/mpi_check.h"
#include "common/mpi/harness.h"
#include "msgrate/peers.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

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

/* The stride in force: as asked; else the one that puts the most peers on other nodes.
   Collective. */
static int choose_stride(struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    if (bench->parameters->stride > 0)
        return (int)bench->parameters->stride;
    if (job->nodes == 1)
        return 1;
    return msgrate_peers_stride(job->ranks, bench->npeers, count_within, bench);
}

/* Says how far peers are apart, and how many of them and of the partners are on other
   nodes. Collective. */
static void note_peers(const struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    struct bc_output *const output = bench->run->output;
    if (job->nodes == 1)
        return;
    const int pct = bc_crossing_pct(job, bench->sends, bench->npeers);
    if (bench->parameters->stride > 0)
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
    int *const peers = malloc((size_t)count * sizeof *peers);
    if (peers == NULL)
        bc_abort("no memory for %d peers", count);
    return peers;
}

static void create_peers(struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    bc_node_order_create(&bench->by_node, job);
    const int place = bench->by_node.place;
    bench->npeers = (int)bench->parameters->peers;
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
    /* Each rank's own last-level cache; the same buffer everywhere. */
    int64_t bytes[2] = {0, (int64_t)bc_cache_llc_bytes()};
    msgrate_cache_bytes(bench->parameters, &bytes[0]);
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

void msgrate_bench_create(struct msgrate_bench *bench, struct bc_run *run,
                          const struct msgrate_parameters *parameters)
{
    *bench = (struct msgrate_bench){
        .run = run,
        .parameters = parameters,
        .sampler = bc_sampler_create(MPI_COMM_WORLD),
    };
    create_peers(bench);
    create_flush(bench);
    if (run->job.ranks % 2 != 0)
        bc_output_remark(run->output, "note",
                         "single direction: rank %d rests and doesn't count, "
                         "for want of a partner",
                         bc_node_order_rank(&bench->by_node, run->job.ranks - 1));
}

void msgrate_bench_destroy(struct msgrate_bench *bench)
{
    bc_sampler_destroy(bench->sampler);
    bc_cache_flush_destroy(&bench->flush);
    bc_node_order_destroy(&bench->by_node);
    free(bench->sends);
    free(bench->receives);
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct msgrate_result msgrate_begin_result(const struct msgrate_bench *bench,
                                           const struct msgrate_messages *messages,
                                           bool one_partner)
{
    const int ranks = bench->run->job.ranks;
    return (struct msgrate_result){
        .messages = one_partner ? messages->count : 2.0 * bench->npeers * messages->count,
        .ranks = one_partner ? ranks / 2 * 2 : ranks,
        .size_bytes = messages->bytes,
    };
}

void msgrate_add_wrong(struct msgrate_result *result, int64_t wrong)
{
    bc_harness_reduce(&wrong, &result->wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}

void msgrate_sample(struct msgrate_bench *bench, const struct bc_source *source,
                    const char *pattern, double seconds, struct msgrate_result *result)
{
    struct bc_source timed = *source;
    timed.clock_ns = bench->run->own_clock.read_ns;
    result->in_time =
        bc_run_sample(bench->run, bench->sampler, &timed, seconds, &result->iteration);
    const struct bc_samples *const samples = bc_sampler_samples(bench->sampler);
    bc_run_dump(bench->run, pattern, samples->values[0], samples->count);
    result->slowest_rank = bc_sampler_slowest_rank(bench->sampler);
}

double msgrate_rate_per_s(const struct msgrate_result *result, double iteration_ns)
{
    return iteration_ns > 0.0 ? result->messages / iteration_ns * 1e9 : NAN;
}

void msgrate_fill_job(struct bc_row *row, const struct msgrate_bench *bench, int64_t size_bytes,
                      int64_t iterations)
{
    bc_row_integer(row, "job_size", bench->run->job.ranks);
    bc_row_integer(row, "npeers", bench->npeers);
    bc_row_integer(row, "niters", iterations);
    bc_row_integer(row, "nmsgs", bench->parameters->messages);
    bc_row_integer(row, "nbytes", size_bytes);
    bc_row_integer(row, "cache_size", bench->cache_bytes);
    bc_row_integer(row, "ppn", bench->stride);
}

void msgrate_fill_row(struct bc_row *row, const struct msgrate_bench *bench,
                      const struct msgrate_result *result)
{
    const struct bc_summary *const iteration = &result->iteration;
    const double rate = msgrate_rate_per_s(result, iteration->value);
    msgrate_fill_job(row, bench, result->size_bytes, (int64_t)iteration->count);
    bc_row_real(row, "rate_per_s", rate);
    bc_row_real(row, "rate_lo_per_s", msgrate_rate_per_s(result, iteration->interval.hi));
    bc_row_real(row, "rate_hi_per_s", msgrate_rate_per_s(result, iteration->interval.lo));
    bc_row_real(row, "total_rate_per_s", rate * result->ranks);
    bc_row_time(row, "iter", iteration);
    bc_row_integer(row, "samples", (int64_t)iteration->count);
    const char *const end = result->in_time ? "ok" : "budget";
    bc_row_text(row, "status", result->wrong > 0 ? "FAIL" : end);
    bc_row_integer(row, "slowest_rank", result->slowest_rank);
}

void msgrate_warn_wrong(const struct msgrate_bench *bench, const struct msgrate_result *result)
{
    if (result->wrong > 0)
        bc_output_remark(bench->run->output, "warning",
                         "wrong data in %lld messages, counted over ranks",
                         (long long)result->wrong);
}
