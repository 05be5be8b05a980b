/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scatter: the root sends a different block to every rank. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(scatter, MPI_Iscatter, MPI_Scatter,
              (operation->send, count, counts->type, operation->receive, count, counts->type,
               operation->shape.root, operation->comm),
              .send = {OP_BLOCK_PER_RANK, OP_ON_ROOT, OP_TO_EACH},
              .receive = {OP_BLOCK, OP_ON_ALL, OP_FROM_ROOT_TO_ME}, .in_place = OP_ROOT_KEEPS);
