/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "msgrate/bench.h"
#include "msgrate/warnings.h"

bool msgrate_peers_distinct(int ranks, int count, int stride)
{
    /* Two peers, or a peer and the rank itself, are 1 to `count` strides apart. They are the same
       rank if these strides are a multiple of the ring. */
    for (long long strides = 1; strides <= count; strides++)
        if (strides * stride % ranks == 0)
            return false;
    return true;
}

/* Strides per call of `within_of`. */
enum { STRIDES = 256 };

int msgrate_peers_stride(int ranks, int count, msgrate_within_fn *within_of, void *context)
{
    int64_t within[STRIDES], min_within = INT64_MAX;
    int best = 1;
    for (int first = 1; first <= ranks / 2 && min_within > 0; first += STRIDES) {
        const int left = ranks / 2 - first + 1;
        const int strides = left < STRIDES ? left : STRIDES;
        within_of(context, first, strides, within);
        for (int i = 0; i < strides; i++)
            if (within[i] < min_within && msgrate_peers_distinct(ranks, count, first + i)) {
                min_within = within[i];
                best = first + i;
            }
    }
    return best;
}

/* Lists `count` ranks in ascending order, `below` of which are below `rank`. */
static void list(int rank, int ranks, int count, int below, int stride, int *peers)
{
    stride %= ranks;
    for (int i = 0; i < count; i++) {
        const int steps = i < below ? i - below : i - below + 1;
        const long long place = rank + (long long)steps * stride;
        peers[i] = (int)((place % ranks + ranks) % ranks);
    }
}

void msgrate_peers_list(int rank, int ranks, int count, int stride, int *sends, int *receives)
{
    list(rank, ranks, count, count / 2, stride, sends);
    list(rank, ranks, count, count - count / 2, stride, receives);
}

int msgrate_partner(int rank, int ranks)
{
    const int half = ranks / 2;
    if (rank >= 2 * half)
        return -1;
    return rank < half ? rank + half : rank - half;
}

/* ---- of this job ----------------------------------------------------------------------------- */

/* A msgrate_within_fn whose context is the bench. The ranks of a node are adjacent. Collective. */
static void count_within(void *context, int first, int strides, int64_t *within)
{
    const struct msgrate_bench *const bench = context;
    const struct bc_job *const job = &bench->run->job;
    const int place = bench->by_node.place, node_place = place - job->node_rank;
    for (int i = 0; i < strides; i++) {
        within[i] = 0;
        msgrate_peers_list(place, job->ranks, bench->npeers, first + i, bench->sends,
                           bench->receives);
        for (int p = 0; p < bench->npeers; p++)
            within[i] +=
                bench->sends[p] >= node_place && bench->sends[p] < node_place + job->node_ranks;
    }
    bc_harness_allreduce(MPI_IN_PLACE, within, strides, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* Prints notes on the distance of peers, and on peers and partners on other nodes. Collective. */
static void note_peers(const struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    const int pct = bc_crossing_pct(job, bench->sends, bench->npeers);
    bc_output_remark(bench->run->output, MSGRATE_NOTE_DISTANCE, bench->stride, pct,
                     bench->parameters.stride > 0 ? "" : ", the most: -n sets the distance");
    bc_crossing_note(job, bench->run->output, "single direction", bench->partner);
}

void msgrate_peers_create(struct msgrate_bench *bench)
{
    const struct bc_job *const job = &bench->run->job;
    bc_node_order_create(&bench->by_node, job);
    const int place = bench->by_node.place;
    const int n = (int)bench->parameters.peers;
    bench->npeers = n;
    bench->sends = bc_allocate((size_t)n * 2, sizeof(int), "no memory for %d peers", n);
    bench->receives = bench->sends + n;
    bench->stride = bench->parameters.stride > 0 ? (int)bench->parameters.stride : 1;
    if (bench->parameters.stride == 0 && job->nodes > 1)
        bench->stride = msgrate_peers_stride(job->ranks, n, count_within, bench);
    msgrate_peers_list(place, job->ranks, n, bench->stride, bench->sends, bench->receives);
    for (int i = 0; i < 2 * n; i++)
        bench->sends[i] = bc_node_order_rank(&bench->by_node, bench->sends[i]);
    bench->partner = bc_node_order_rank(&bench->by_node, msgrate_partner(place, job->ranks));
    bench->lower = place < job->ranks / 2;
    if (job->nodes > 1)
        note_peers(bench);
}
