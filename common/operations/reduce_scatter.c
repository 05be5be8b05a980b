/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter: every rank gets its block of the sum; the (equal) counts are an array. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter,
                (operation->send, operation->receive, counts->by_rank.amounts, operation->type,
                 operation->op, operation->comm),
                .layout = OP_REDUCED, .send = {OP_BLOCK_PER_RANK, OP_ON_ALL, OP_TO_EACH},
                .receive = {OP_BLOCK, OP_ON_ALL, OP_SUM_TO_ME}, .in_place = OP_WHOLE_IN_PLACE);
