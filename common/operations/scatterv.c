/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scatterv: the root sends a different block to every rank, larger ones to higher ranks. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(scatterv, MPI_Iscatterv, MPI_Scatterv,
                (operation->send, counts->by_rank.amounts, counts->by_rank.displacements,
                 operation->type, operation->receive, count, operation->type, operation->shape.root,
                 operation->comm),
                .layout = OP_VARYING, .send = {OP_ALL_AMOUNTS, OP_ON_ROOT, OP_TO_EACH},
                .receive = {OP_OWN_AMOUNT, OP_ON_ALL, OP_FROM_ROOT_TO_ME},
                .in_place = OP_ROOT_KEEPS);
