/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allreduce: the sum over all ranks on every rank. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

/* Read this table first. It has the calls, whose arguments may use `operation` and `count`, and the
   contents of the send and receive buffers, which --check verifies (values.h). Beyond the largest
   `int` the same arguments are those of MPI_Allreduce_c and so on. */
OP_COLLECTIVE_C(allreduce, MPI_Iallreduce, MPI_Allreduce,
                (operation->send, operation->receive, count, operation->type, operation->op,
                 operation->comm),
                .layout = OP_REDUCED, .send = {OP_BLOCK, OP_ON_ALL, OP_TO_ALL},
                .receive = {OP_BLOCK, OP_ON_ALL, OP_SUM}, .in_place = OP_WHOLE_IN_PLACE);
