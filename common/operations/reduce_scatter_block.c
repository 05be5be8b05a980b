/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter_block: every rank gets its block of the sum over all ranks. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block,
                (operation->send, operation->receive, count, operation->type, operation->op,
                 operation->comm),
                .layout = OP_REDUCED, .send = {OP_BLOCK_PER_RANK, OP_ON_ALL, OP_TO_EACH},
                .receive = {OP_BLOCK, OP_ON_ALL, OP_SUM_TO_ME}, .in_place = OP_WHOLE_IN_PLACE);
