/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a job in the order of their nodes: nodes by their lowest ranks, the ranks of a node
 * one after the other. A rank's number in this order is its place.
 *
 * Specifications pair ranks by number (r with r + P / 2) and mean pairs across the network. So
 * benchmarks apply these rules to places, however a launcher deals out ranks, and translate places
 * to ranks of MPI_COMM_WORLD for rows and notes. Places P / 2 apart are on different nodes unless
 * one node has more than half of the ranks.
 *
 * All functions take O(log P) messages per rank; only a communicator's memory grows with P.
 */
#pragma once

#include "common/job/job.h"
#include "common/result/output.h"

struct bc_node_order {
    MPI_Comm comm; /* all ranks; a rank's number in it is its place */
    int place;     /* of this rank */
};

/* Both are collective over MPI_COMM_WORLD. */
void bc_node_order_create(struct bc_node_order *order, const struct bc_job *job);
void bc_node_order_destroy(struct bc_node_order *order);

/* Returns the rank of MPI_COMM_WORLD at a place; -1 for the place -1 (none). Local. */
int bc_node_order_rank(const struct bc_node_order *order, int place);

/* Returns the rank in `to` of a process that is `rank` in `from`, or MPI_UNDEFINED. Local. */
int bc_translate_rank(MPI_Comm from, int rank, MPI_Comm to);

/* Returns true if a rank of MPI_COMM_WORLD and the calling rank are on different nodes. Local. */
bool bc_crosses_nodes(const struct bc_job *job, int rank);

/* Returns on rank 0 the share of pairs that cross nodes, in whole percent, which is 0 or 100 only
   for none or all of them. `partners` are the `count` ranks of MPI_COMM_WORLD that are paired with
   the calling rank; `count` may differ between ranks. Collective over MPI_COMM_WORLD. */
int bc_crossing_pct(const struct bc_job *job, const int *partners, int count);

/* Writes that share as a note if there are several nodes: "100 % of the pairs cross nodes", after
   `which` ("single", or "" for all pairs). `partner` is -1 if there is none. Collective over
   MPI_COMM_WORLD. */
void bc_crossing_note(const struct bc_job *job, struct bc_output *output, const char *which,
                      int partner);
