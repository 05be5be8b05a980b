/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallw: as MPI_Alltoallv, with a datatype for each rank and displacements in bytes. */
#include "common/operations/calls.h"
#include "common/operations/collectives.h"

OP_COLLECTIVE(alltoallw, MPI_Ialltoallw, MPI_Alltoallw,
              (operation->send, counts->own.amounts, counts->own.displacements, counts->own.types,
               operation->receive, counts->by_rank.amounts, counts->by_rank.displacements,
               counts->by_rank.types, operation->comm),
              .layout = OP_VARYING_BYTES,
              .send = {OP_OWN_AMOUNT_PER_RANK, OP_ON_ALL, OP_AMOUNT_TO_EACH},
              .receive = {OP_ALL_AMOUNTS, OP_ON_ALL, OP_FROM_EACH_TO_ME});
