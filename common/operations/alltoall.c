/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoall: every rank sends a different block to every rank. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(alltoall, MPI_Ialltoall, MPI_Alltoall,
              (operation->send, count, counts->type, operation->receive, count, counts->type,
               operation->comm),
              .send = {OP_BLOCK_PER_RANK, OP_ON_ALL, OP_TO_EACH},
              .receive = {OP_BLOCK_PER_RANK, OP_ON_ALL, OP_FROM_EACH_TO_ME},
              .in_place = OP_WHOLE_IN_PLACE);
