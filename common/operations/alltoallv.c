/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallv: every rank sends each rank a different block, larger ones from higher ranks. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(alltoallv, MPI_Ialltoallv, MPI_Alltoallv,
                (operation->send, counts->own.amounts, counts->own.displacements, operation->type,
                 operation->receive, counts->by_rank.amounts, counts->by_rank.displacements,
                 operation->type, operation->comm),
                .layout = OP_VARYING,
                .send = {OP_OWN_AMOUNT_PER_RANK, OP_ON_ALL, OP_AMOUNT_TO_EACH},
                .receive = {OP_ALL_AMOUNTS, OP_ON_ALL, OP_FROM_EACH_TO_ME});
