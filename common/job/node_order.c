/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/node_order.h"

#include "common/mpi/mpi_check.h"
#include "common/mpi/harness.h"
#include "common/result/warnings.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the order ------------------------------------------------------------------------------- */

int bc_translate_rank(MPI_Comm from, int rank, MPI_Comm to)
{
    MPI_Group from_group, to_group;
    int translated;
    BC_MPI(MPI_Comm_group(from, &from_group));
    BC_MPI(MPI_Comm_group(to, &to_group));
    BC_MPI(MPI_Group_translate_ranks(from_group, 1, &rank, to_group, &translated));
    BC_MPI(MPI_Group_free(&from_group));
    BC_MPI(MPI_Group_free(&to_group));
    return translated;
}

void bc_node_order_create(struct bc_node_order *order, const struct bc_job *job)
{
    /* True if the ranks of each node follow each other, so that places are ranks. */
    int follow = job->rank == bc_translate_rank(job->node_comm, 0, MPI_COMM_WORLD) + job->node_rank;
    bc_harness_allreduce(MPI_IN_PLACE, &follow, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    order->comm = MPI_COMM_WORLD;
    /* Among equal keys MPI keeps the order of ranks (MPI 3.1, 6.4.2). */
    if (!follow)
        BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, job->node, &order->comm));
    BC_MPI(MPI_Comm_rank(order->comm, &order->place));
}

void bc_node_order_destroy(struct bc_node_order *order)
{
    if (order->comm != MPI_COMM_WORLD)
        BC_MPI(MPI_Comm_free(&order->comm));
}

int bc_node_order_rank(const struct bc_node_order *order, int place)
{
    return place < 0 ? -1 : bc_translate_rank(order->comm, place, MPI_COMM_WORLD);
}

/* ---- pairs that cross nodes ------------------------------------------------------------------ */

bool bc_crosses_nodes(const struct bc_job *job, int rank)
{
    return bc_translate_rank(MPI_COMM_WORLD, rank, job->node_comm) == MPI_UNDEFINED;
}

int bc_crossing_pct(const struct bc_job *job, const int *partners, int count)
{
    int64_t own[2] = {0, count}, all[2] = {0, 0}; /* pairs that cross nodes; all pairs */
    for (int i = 0; i < count; i++)
        own[0] += bc_crosses_nodes(job, partners[i]);
    bc_harness_reduce(own, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (all[0] == 0 || all[0] == all[1])
        return all[0] == 0 ? 0 : 100;
    return (int)fmin(99.0, fmax(1.0, round(100.0 * (double)all[0] / (double)all[1])));
}

void bc_crossing_note(const struct bc_job *job, struct bc_output *output, const char *which,
                      int partner)
{
    if (job->nodes == 1)
        return;
    const int pct = bc_crossing_pct(job, &partner, partner >= 0);
    bc_output_remark(output, BC_NOTE_CROSSING, which, which[0] != 0 ? ": " : "", pct);
}
