/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Gatherv: the root gets a block from every rank, larger ones from higher ranks. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(gatherv, MPI_Igatherv, MPI_Gatherv,
                (operation->send, count, operation->type, operation->receive,
                 counts->by_rank.amounts, counts->by_rank.displacements, operation->type,
                 operation->shape.root, operation->comm),
                .layout = OP_VARYING, .send = {OP_OWN_AMOUNT, OP_ON_ALL, OP_TO_ALL},
                .receive = {OP_ALL_AMOUNTS, OP_ON_ROOT, OP_FROM_EACH},
                .in_place = OP_BLOCK_IN_PLACE);
