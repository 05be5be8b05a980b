/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast: the root sends one block to all ranks. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(bcast, MPI_Ibcast, MPI_Bcast,
              (operation->shape.rank == operation->shape.root ? operation->send
                                                              : operation->receive,
               count, counts->type, operation->shape.root, operation->comm),
              .send = {OP_BLOCK, OP_ON_ROOT, OP_TO_ALL},
              .receive = {OP_BLOCK, OP_ON_OTHERS, OP_FROM_ROOT});
