/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and one-sided transfers between pairs of ranks: roles and buffers.
 *
 * The ranks are ordered by node. Rank r of the lower half works, and its times are used; its
 * partner r + P/2 in the upper half serves the other end of the message. If a message goes both
 * ways, both ranks work. In a job of odd size the last rank is idle. One-sided transfers use a
 * window, which all ranks have locked (MPI_Win_lock_all) as long as the operation lasts.
 */
#pragma once

#include "common/operations/calls.h"

extern const struct op_kind op_get, op_irecv, op_isend, op_put, op_sendrecv;
extern const struct op_kind op_partitioned; /* since MPI-4 */

/* ---- for the files of these operations ------------------------------------------------------- */

/* For `describe`: notes the share of the pairs that crosses nodes. Collective. */
void op_pairs_describe(const struct bc_run *run);

/* For `place`: the lower half works, or both halves work with two requests each. Collective. */
void op_pairs_place(struct op_instance *operation);
void op_pairs_place_both(struct op_instance *operation);

/* The arguments of MPI_Send or MPI_Recv, and of MPI_Isend, MPI_Send_init and so on before the
   request. */
enum { OP_TAG = 1 };
#define OP_TO_PARTNER                                                                              \
    operation->send, count, counts->type, operation->shape.partner, OP_TAG, operation->comm
#define OP_FROM_PARTNER                                                                            \
    operation->receive, count, counts->type, operation->shape.partner, OP_TAG, operation->comm

/* MPI_Send and MPI_Recv: for `blocking` and `serve`. */
void op_send_block(struct op_instance *operation);
void op_receive_block(struct op_instance *operation);

/* For `serve` of a rank that has nothing to do. */
void op_stay_away(struct op_instance *operation);

/* Members of struct op_kind: a block goes from the lower half to the upper one, or back. */
#define OP_LOWER_SENDS                                                                             \
    .describe = op_pairs_describe, .place = op_pairs_place,                                        \
    .send = {OP_BLOCK, OP_ON_LOWER, OP_TO_ALL}, .receive = {OP_BLOCK, OP_ON_UPPER, OP_BY_PARTNER}
#define OP_LOWER_RECEIVES                                                                          \
    .describe = op_pairs_describe, .place = op_pairs_place,                                        \
    .send = {OP_BLOCK, OP_ON_UPPER, OP_TO_ALL}, .receive = {OP_BLOCK, OP_ON_LOWER, OP_BY_PARTNER}

/* ---- one-sided transfers --------------------------------------------------------------------- */

/* For `create`: makes a window of each rank's receive buffer, or of its send buffer. The window of
   the receive buffer is synchronised by `settle`. Collective, as `destroy`. */
void op_create_target_window(struct op_instance *operation);
void op_create_source_window(struct op_instance *operation);
void op_destroy_window(struct op_instance *operation);

static inline MPI_Win op_window(const struct op_instance *operation)
{
    return *(const MPI_Win *)operation->own;
}

/* The arguments of MPI_Put and MPI_Get after the buffer: all of the partner's window. */
#define OP_OF_PARTNER                                                                              \
    count, counts->type, operation->shape.partner, 0, count, counts->type, op_window(operation)

/* Completes all transfers to the partner, at both ends. Local. */
static inline void op_flush(const struct op_instance *operation)
{
    BC_MPI(MPI_Win_flush(operation->shape.partner, op_window(operation)));
}
