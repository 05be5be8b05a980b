/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Gather: the root gets a block from every rank. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(gather, MPI_Igather, MPI_Gather,
              (operation->send, count, counts->type, operation->receive, count, counts->type,
               operation->shape.root, operation->comm),
              .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
              .receive = {OP_BLOCK_PER_RANK, OP_ON_ROOT, OP_FROM_EACH},
              .in_place = OP_BLOCK_IN_PLACE);
