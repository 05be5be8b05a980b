/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather: every rank gets a block from every rank. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(allgather, MPI_Iallgather, MPI_Allgather,
              (operation->send, count, counts->type, operation->receive, count, counts->type,
               operation->comm),
              .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
              .receive = {OP_BLOCK_PER_RANK, OP_ON_ALL, OP_FROM_EACH},
              .in_place = OP_BLOCK_IN_PLACE);
