#include "msgrate/bench.h"

#include "common/mpi_check.h"
#include "common/quiet.h"
#include "msgrate/peers.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

/* ---- peers ------------------------------------------------------------------- */

/* The stride in force: as asked; else a node's ranks, so that peers are on other
   nodes, where there are nodes enough. Says why if not. */
static int choose_stride(const struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    if (bench->parameters->stride > 0)
        return (int)bench->parameters->stride;
    if (job->nodes == 1)
        return 1;
    if (job->nodes > bench->npeers &&
        msgrate_peers_distinct(job->ranks, bench->npeers, job->most_per_node))
        return job->most_per_node;
    bc_output_remark(bench->run->output, "note",
                     job->nodes > bench->npeers
                         ? "peers are neighbouring ranks (ppn 1), since the "
                           "nodes have different numbers of them: -n sets the "
                           "distance"
                         : "peers are neighbouring ranks (ppn 1), since there "
                           "are not more nodes than peers");
    return 1;
}

/* Says how many of all pairs of peers are on different nodes. Collective. */
static void count_remote_peers(const struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    if (job->nodes == 1)
        return;
    int *const here = malloc((size_t)bench->npeers * sizeof *here);
    if (here == NULL)
        bc_abort("no memory for %d peers", bench->npeers);
    MPI_Group world, node;
    BC_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    BC_MPI(MPI_Comm_group(job->node_comm, &node));
    BC_MPI(MPI_Group_translate_ranks(world, bench->npeers, bench->sends, node,
                                     here));
    int64_t remote = 0, all_remote = 0;
    for (int i = 0; i < bench->npeers; i++)
        remote += here[i] == MPI_UNDEFINED;
    BC_MPI(MPI_Reduce(&remote, &all_remote, 1, MPI_INT64_T, MPI_SUM, 0,
                      MPI_COMM_WORLD));
    bc_output_remark(bench->run->output, "note",
                     "%.0f %% of the peers are on another node",
                     100.0 * (double)all_remote /
                         ((double)bench->npeers * job->ranks));
    BC_MPI(MPI_Group_free(&world));
    BC_MPI(MPI_Group_free(&node));
    free(here);
}

static void create_peers(struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    bench->npeers = (int)bench->parameters->peers;
    bench->stride = choose_stride(bench);
    bench->sends = malloc((size_t)bench->npeers * sizeof *bench->sends);
    bench->receives = malloc((size_t)bench->npeers * sizeof *bench->receives);
    if (bench->sends == NULL || bench->receives == NULL)
        bc_abort("no memory for %d peers", bench->npeers);
    msgrate_peers_list(job->rank, job->ranks, bench->npeers, bench->stride,
                       bench->sends, bench->receives);
    bench->partner = msgrate_partner(job->rank, job->ranks);
    count_remote_peers(bench);
}

/* ---- the flush ------------------------------------------------------------------ */

static void create_flush(struct msgrate_bench *bench)
{
    /* Each rank's own last-level cache; the same buffer everywhere. */
    int64_t bytes[2] = {0, (int64_t)bc_cache_llc_bytes()};
    msgrate_cache_bytes(bench->parameters, &bytes[0]);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_INT64_T, MPI_MAX,
                         MPI_COMM_WORLD));
    bench->cache_bytes = bytes[0];
    if (!bc_cache_flush_create(&bench->flush, (size_t)bytes[0]))
        bc_abort("no memory for a flush of %lld bytes", (long long)bytes[0]);
    struct bc_output *const output = bench->run->output;
    if (bytes[0] == 0)
        bc_output_remark(output, "note", "the caches are not flushed: rates are "
                                         "those of warm caches");
    else if (bytes[0] < bytes[1])
        bc_output_remark(output, "warning",
                         "the flush, %lld bytes, is smaller than the "
                         "last-level cache, %lld bytes, which may keep some of "
                         "the messages: -c llc flushes all of it",
                         (long long)bytes[0], (long long)bytes[1]);
}

/* ---- life --------------------------------------------------------------------------- */

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
                         run->job.ranks - 1);
}

void msgrate_bench_destroy(struct msgrate_bench *bench)
{
    bc_sampler_destroy(bench->sampler);
    bc_cache_flush_destroy(&bench->flush);
    free(bench->sends);
    free(bench->receives);
}

/* ---- rows ----------------------------------------------------------------------------- */

struct msgrate_result msgrate_begin_result(
    const struct msgrate_bench *bench, const struct msgrate_messages *messages,
    bool one_partner)
{
    const int ranks = bench->run->job.ranks;
    return (struct msgrate_result){
        .messages = one_partner ? messages->count
                                : 2.0 * bench->npeers * messages->count,
        .ranks = one_partner ? ranks / 2 * 2 : ranks,
        .size_bytes = messages->bytes,
    };
}

void msgrate_add_wrong(struct msgrate_result *result, int64_t wrong)
{
    bc_quiet_reduce(&wrong, &result->wrong, 1, MPI_INT64_T, MPI_SUM, 0,
                    MPI_COMM_WORLD);
}

void msgrate_sample(struct msgrate_bench *bench, const struct bc_source *source,
                    const char *pattern, double seconds,
                    struct msgrate_result *result)
{
    struct bc_source timed = *source;
    timed.clock_ns = bench->run->own_clock.read_ns;
    result->in_time = bc_run_sample(bench->run, bench->sampler, &timed, seconds,
                                    &result->iteration);
    const struct bc_samples *const samples = bc_sampler_samples(bench->sampler);
    bc_run_dump(bench->run, pattern, samples->values[0], samples->count);
    result->slowest_rank = bc_sampler_slowest_rank(bench->sampler);
}

double msgrate_rate_per_s(const struct msgrate_result *result,
                          double iteration_ns)
{
    return iteration_ns > 0.0 ? result->messages / iteration_ns * 1e9 : NAN;
}

void msgrate_fill_job(struct bc_row *row, const struct msgrate_bench *bench,
                      int64_t size_bytes, int64_t iterations)
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
    const double rate =
        msgrate_rate_per_s(result, iteration->value);
    msgrate_fill_job(row, bench, result->size_bytes,
                     (int64_t)iteration->count);
    bc_row_real(row, "rate_per_s", rate);
    bc_row_real(row, "rate_lo_per_s",
                msgrate_rate_per_s(result, iteration->interval.hi));
    bc_row_real(row, "rate_hi_per_s",
                msgrate_rate_per_s(result, iteration->interval.lo));
    bc_row_real(row, "total_rate_per_s", rate * result->ranks);
    bc_row_time(row, "iter", iteration);
    bc_row_integer(row, "samples", (int64_t)iteration->count);
    const char *const end = result->in_time ? "ok" : "budget";
    bc_row_text(row, "status", result->wrong > 0 ? "FAIL" : end);
    bc_row_integer(row, "slowest_rank", result->slowest_rank);
}

void msgrate_warn_wrong(const struct msgrate_bench *bench,
                        const struct msgrate_result *result)
{
    if (result->wrong > 0)
        bc_output_remark(bench->run->output, "warning",
                         "wrong data in %lld messages, counted over ranks",
                         (long long)result->wrong);
}
