/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgatherv: every rank gets a block from every rank, larger ones from higher ranks. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE_C(allgatherv, MPI_Iallgatherv, MPI_Allgatherv,
                (operation->send, count, operation->type, operation->receive,
                 counts->by_rank.amounts, counts->by_rank.displacements, operation->type,
                 operation->comm),
                .layout = OP_VARYING, .send = {OP_OWN_AMOUNT, OP_ON_ALL, OP_TO_ALL},
                .receive = {OP_ALL_AMOUNTS, OP_ON_ALL, OP_FROM_EACH},
                .in_place = OP_BLOCK_IN_PLACE);
