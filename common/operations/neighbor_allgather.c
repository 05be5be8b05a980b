/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Neighbor_allgather: every rank gets a block from each neighbour in the periodic 3D grid. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather,
              (operation->send, count, counts->type, operation->receive, count, counts->type,
               operation->comm),
              .on_grid = true, .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
              .receive = {OP_BLOCK_PER_NEIGHBOUR, OP_ON_ALL, OP_FROM_EACH});
