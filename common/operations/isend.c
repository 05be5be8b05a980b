/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Isend: a rank sends a block to its partner, which is in MPI_Recv. */
#include "common/operations/pairs.h"

OP_CALL(start, "MPI_Isend", MPI_Isend(OP_TO_PARTNER, operation->requests))
OP_CALL(persist, "MPI_Send_init", MPI_Send_init(OP_TO_PARTNER, operation->requests))

const struct op_kind op_isend = {
    .name = "isend",
    .functions = {.start = start, .persist = persist, .blocking = op_send_block},
    .persistent_function = "MPI_Send_init",
    .serve = op_receive_block,
    OP_LOWER_SENDS};
