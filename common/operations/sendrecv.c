/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Irecv and MPI_Isend: partners send each other a block. */
#include "common/operations/pairs.h"

enum { RECEIVE, SEND };

OP_CALL(receive, "MPI_Irecv", MPI_Irecv(OP_FROM_PARTNER, &operation->requests[RECEIVE]))
OP_CALL(send, "MPI_Isend", MPI_Isend(OP_TO_PARTNER, &operation->requests[SEND]))
OP_CALL(persist_receive, "MPI_Recv_init",
        MPI_Recv_init(OP_FROM_PARTNER, &operation->requests[RECEIVE]))
OP_CALL(persist_send, "MPI_Send_init", MPI_Send_init(OP_TO_PARTNER, &operation->requests[SEND]))
OP_CALL(block, "MPI_Sendrecv",
        MPI_Sendrecv(operation->send, count, counts->type, operation->shape.partner, OP_TAG,
                     OP_FROM_PARTNER, MPI_STATUS_IGNORE))

static void start(struct op_instance *operation)
{
    receive(operation);
    send(operation);
}

static void persist(struct op_instance *operation)
{
    persist_receive(operation);
    persist_send(operation);
}

const struct op_kind op_sendrecv = {
    .name = "sendrecv",
    .functions = {.start = start, .persist = persist, .blocking = block},
    .persistent_function = "MPI_Send_init",
    .serve = op_stay_away,
    .describe = op_pairs_describe,
    .place = op_pairs_place_both,
    .send = {OP_BLOCK, OP_ON_PAIRS, OP_TO_ALL},
    .receive = {OP_BLOCK, OP_ON_PAIRS, OP_BY_PARTNER},
};
