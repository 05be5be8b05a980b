/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Irecv: a rank receives a block from its partner, which is in MPI_Send. */
#include "common/operations/pairs.h"

OP_CALL(start, "MPI_Irecv", MPI_Irecv(OP_FROM_PARTNER, operation->requests))
OP_CALL(persist, "MPI_Recv_init", MPI_Recv_init(OP_FROM_PARTNER, operation->requests))

const struct op_kind op_irecv = {
    .name = "irecv",
    .functions = {.start = start, .persist = persist, .blocking = op_receive_block},
    .persistent_function = "MPI_Recv_init",
    .serve = op_send_block,
    OP_LOWER_RECEIVES};
