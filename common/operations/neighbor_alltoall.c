/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Neighbor_alltoall: every rank sends each neighbour a different block in the periodic 3D grid.
   If two neighbours are the same rank, both blocks have the same values, since libraries disagree
   about their order. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall,
              (operation->send, count, counts->type, operation->receive, count, counts->type,
               operation->comm),
              .on_grid = true, .send = {OP_BLOCK_PER_NEIGHBOUR, OP_ON_ALL, OP_TO_EACH},
              .receive = {OP_BLOCK_PER_NEIGHBOUR, OP_ON_ALL, OP_FROM_EACH_TO_ME});
