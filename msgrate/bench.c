#include "msgrate/bench.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "msgrate/peers.h"

#include <mpi.h>
#include <stdlib.h>

/* msgrate_within_fn; the context is the bench. Collective. */
static void count_within(void *context, int first, int strides, int64_t *within)
{
    const struct msgrate_bench *const bench = context;
    const struct bc_job *const job = &bench->run->job;
    for (int i = 0; i < strides; i++) /* one rank counts for its node */
        within[i] = job->node_rank == 0 ? msgrate_peers_within(job->node_ranks, job->ranks,
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
    bc_output_remark(output, "note",
                     bench->parameters.stride > 0
                         ? "distance between peers, ranks ordered by node: %d, which puts %d %% of "
                           "them on other nodes"
                         : "distance between peers, ranks ordered by node: %d, the smallest that "
                           "puts the most of them, %d %%, on other nodes (-n sets it)",
                     bench->stride, pct);
    bc_crossing_note(job, output, "single direction: ", bench->partner);
}

static void create_peers(struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    bc_node_order_create(&bench->by_node, job);
    const int place = bench->by_node.place;
    const int n = (int)bench->parameters.peers;
    bench->npeers = n;
    bench->stride = choose_stride(bench);
    bench->sends = bc_allocate((size_t)n * 2, sizeof(int), "no memory for %d peers", n);
    bench->receives = bench->sends + n;
    msgrate_peers_list(place, job->ranks, n, bench->stride, bench->sends, bench->receives);
    for (int i = 0; i < n; i++) {
        bench->sends[i] = bc_node_order_rank(&bench->by_node, bench->sends[i]);
        bench->receives[i] = bc_node_order_rank(&bench->by_node, bench->receives[i]);
    }
    bench->partner = bc_node_order_rank(&bench->by_node, msgrate_partner(place, job->ranks));
    bench->lower = place < job->ranks / 2;
    note_peers(bench);
}

static void create_flush(struct msgrate_bench *bench)
{
    /* Caches may differ between ranks: all flush with the maximum. */
    int64_t bytes[2] = {bench->parameters.cache_bytes, (int64_t)bc_cache_llc_bytes()};
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD));
    bench->cache_bytes = bytes[0];
    if (!bc_cache_flush_create(&bench->flush, (size_t)bytes[0]))
        bc_abort("no memory for a flush of %lld bytes", (long long)bytes[0]);
    struct bc_output *const output = bench->run->output;
    if (bytes[0] == 0)
        bc_output_remark(output, "note",
                         "the caches are not flushed: rates are those of warm caches");
    else if (bytes[0] < bytes[1])
        bc_output_remark(output, "warning",
                         "the flush, %lld bytes, is smaller than the last-level cache, %lld bytes, "
                         "which may keep some of the messages: -c llc flushes all of it",
                         (long long)bytes[0], (long long)bytes[1]);
}

void msgrate_open(struct msgrate_bench *bench, struct bc_run *run)
{
    bench->run = run;
    create_peers(bench);
    create_flush(bench);
    if (run->job.ranks % 2 != 0)
        bc_output_remark(run->output, "note",
                         "single direction: rank %d rests and doesn't count, for want of a partner",
                         bc_node_order_rank(&bench->by_node, run->job.ranks - 1));
}

void msgrate_close(struct msgrate_bench *bench)
{
    bc_cache_flush_destroy(&bench->flush);
    bc_node_order_destroy(&bench->by_node);
    free(bench->sends);
}
