/*
 * The ranks of a job in the order of their nodes: the nodes by their lowest ranks, and the ranks of
 * a node one after the other, in the order of MPI_COMM_WORLD. A rank's number in this order is its
 * place.
 *
 * Specifications pair ranks by number (r with r + P / 2, peers a stride apart) and mean pairs with
 * the network between them, also where a launcher deals ranks out to the nodes in turn. So
 * benchmarks apply these rules to places, and translate places to ranks of MPI_COMM_WORLD, which
 * rows and notes name. Places P / 2 apart are on different nodes unless one node has more than half
 * of the ranks.
 *
 * All functions take O(log P) messages a rank, and memory that does not grow with P, but for what
 * the MPI library takes for a communicator.
 */
#pragma once

#include "common/job/job.h"
#include "common/result/output.h"

struct bc_node_order {
    MPI_Comm comm; /* all ranks; a rank's number in it is its place */
    int place;     /* of this rank */
};

/* Collective over MPI_COMM_WORLD, both. */
void bc_node_order_create(struct bc_node_order *order, const struct bc_job *job);
void bc_node_order_destroy(struct bc_node_order *order);

/* The rank of MPI_COMM_WORLD at a place; -1 for the place -1 (none). Local. */
int bc_node_order_rank(const struct bc_node_order *order, int place);

/* The rank in `to` of a process that is `rank` in `from`, or MPI_UNDEFINED. Local. */
int bc_translate_rank(MPI_Comm from, int rank, MPI_Comm to);

/* Whether a rank of MPI_COMM_WORLD is on another node than the calling rank. Local. */
bool bc_crosses_nodes(const struct bc_job *job, int rank);

/* The share of pairs that cross nodes, in whole percent, on rank 0; 0 and 100 only where none or
   all of them do; 0 if there are no pairs. `partners` are the `count` ranks of MPI_COMM_WORLD that
   the calling rank is paired with; `count` may differ. Collective over MPI_COMM_WORLD. */
int bc_crossing_pct(const struct bc_job *job, const int *partners, int count);

/* Where the job has several nodes, writes that share as a note, "100 % of the pairs cross nodes",
   after `which` ("single", or "" for all pairs). `partner` is -1 on a rank that has none.
   Collective over MPI_COMM_WORLD. */
void bc_crossing_note(const struct bc_job *job, struct bc_output *output, const char *which,
                      int partner);
