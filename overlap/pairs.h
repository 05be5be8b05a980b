/*
 * Messages and transfers between pairs of ranks: who does what, and what is in the buffers.
 *
 * The ranks are ordered by node. Rank r of the lower half works, and its times count; its partner
 * in the upper half, r + P/2, does the other end of the message. Where a message goes both ways
 * both work. In a job of odd size the last rank rests. One-sided transfers go to or from a window,
 * which all ranks have locked (MPI_Win_lock_all) as long as the operation lasts.
 */
#pragma once

#include "overlap/engine/program.h"

/* For `describe`: which share of the pairs crosses nodes. Collective. */
void overlap_pairs_describe(const struct bc_run *run);

/* For `place`: the lower half works, or both halves do. Collective. */
void overlap_pairs_place(struct overlap_operation *operation);
void overlap_pairs_place_both(struct overlap_operation *operation);

/* ---- what the operations have in common ------------------------------------------------------ */

/* The arguments of a message to, or from, the partner: of MPI_Send and MPI_Recv, and those of
   MPI_Isend, MPI_Send_init and so on before the request. */
enum { OVERLAP_TAG = 1 };
#define OVERLAP_TO_PARTNER                                                                         \
    operation->send, count, counts->type, operation->partner, OVERLAP_TAG, operation->comm
#define OVERLAP_FROM_PARTNER                                                                       \
    operation->receive, count, counts->type, operation->partner, OVERLAP_TAG, operation->comm

/* MPI_Send and MPI_Recv: for `blocking` and `serve`. */
void overlap_send(struct overlap_operation *operation);
void overlap_receive(struct overlap_operation *operation);

/* For `serve`, where a rank has nothing to do. */
void overlap_stay_away(struct overlap_operation *operation);

/* Members of struct overlap_kind: a block goes from the lower half to the upper one, or back. */
#define OVERLAP_LOWER_SENDS                                                                        \
    .describe = overlap_pairs_describe, .place = overlap_pairs_place,                              \
    .send = {OVERLAP_BLOCK, OVERLAP_ON_LOWER, OVERLAP_TO_ALL},                                     \
    .receive = {OVERLAP_BLOCK, OVERLAP_ON_UPPER, OVERLAP_BY_PARTNER}
#define OVERLAP_LOWER_RECEIVES                                                                     \
    .describe = overlap_pairs_describe, .place = overlap_pairs_place,                              \
    .send = {OVERLAP_BLOCK, OVERLAP_ON_UPPER, OVERLAP_TO_ALL},                                     \
    .receive = {OVERLAP_BLOCK, OVERLAP_ON_LOWER, OVERLAP_BY_PARTNER}

/* ---- one-sided transfers --------------------------------------------------------------------- */

/* For `create`: a window of each rank's receive buffer, or of its send buffer. Collective, as
   `destroy`. */
void overlap_create_target_window(struct overlap_operation *operation);
void overlap_create_source_window(struct overlap_operation *operation);
void overlap_destroy_window(struct overlap_operation *operation);

/* For `settle`: makes visible what this rank stored, and what was put. Local. */
void overlap_sync_window(const struct overlap_operation *operation);

static inline MPI_Win overlap_window(const struct overlap_operation *operation)
{
    return *(const MPI_Win *)operation->own;
}

/* The arguments of MPI_Put and MPI_Get behind the buffer: all of the partner's window. */
#define OVERLAP_OF_PARTNER                                                                         \
    count, counts->type, operation->partner, 0, count, counts->type, overlap_window(operation)

/* Completes all transfers to the partner, also there. Local. */
static inline void overlap_flush(const struct overlap_operation *operation)
{
    BC_MPI(MPI_Win_flush(operation->partner, overlap_window(operation)));
}
