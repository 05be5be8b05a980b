/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Exscan: the sum over the ranks below this one. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(exscan, MPI_Iexscan, MPI_Exscan,
                (operation->send, operation->receive, count, operation->type, operation->op,
                 operation->comm),
                .layout = OP_REDUCED, .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
                .receive = {OP_BLOCK, OP_ON_ALL, OP_SUM_BELOW_ME}, .in_place = OP_WHOLE_IN_PLACE);
