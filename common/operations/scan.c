/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scan: the sum over the ranks up to and including this one. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(scan, MPI_Iscan, MPI_Scan,
                (operation->send, operation->receive, count, operation->type, operation->op,
                 operation->comm),
                .layout = OP_REDUCED, .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
                .receive = {OP_BLOCK, OP_ON_ALL, OP_SUM_UP_TO_ME}, .in_place = OP_WHOLE_IN_PLACE);
