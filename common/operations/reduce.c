/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce: the sum over all ranks, on the root. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(reduce, MPI_Ireduce, MPI_Reduce,
                (operation->send, operation->receive, count, operation->type, operation->op,
                 operation->shape.root, operation->comm),
                .layout = OP_REDUCED, .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
                .receive = {OP_BLOCK, OP_ON_ROOT, OP_SUM}, .in_place = OP_WHOLE_IN_PLACE);
