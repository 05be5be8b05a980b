/*
 * Messages and transfers between pairs of ranks: who does what, and what is in the buffers.
 *
 * The ranks are ordered by node. Rank r of the lower half works, and its times count; its partner
 * in the upper half, r + P/2, does the other end of the message. Where a message goes both ways
 * both work. In a job of odd size the last rank rests.
 */
#ifndef COMMCOST_OVERLAP_PAIRS_H
#define COMMCOST_OVERLAP_PAIRS_H

#include "overlap/engine/overlap.h"

/* For `describe`: which share of the pairs crosses nodes. Collective. */
void overlap_pairs_describe(const struct bc_run *run);

/* For `place`: the lower half works, or both halves do. Collective. */
void overlap_pairs_place(struct overlap_operation *operation);
void overlap_pairs_place_both(struct overlap_operation *operation);

/* ---- elements in a buffer -------------------------------------------------------------------- */

static inline bool overlap_is_lower(const struct overlap_shape *shape)
{
    return shape->rank < shape->ranks / 2;
}

static inline bool overlap_is_upper(const struct overlap_shape *shape)
{
    return !overlap_is_lower(shape) && shape->rank < shape->ranks / 2 * 2;
}

static inline int64_t overlap_one_block_of_lower(const struct overlap_shape *shape)
{
    return overlap_is_lower(shape) ? shape->elements : 0;
}

static inline int64_t overlap_one_block_of_upper(const struct overlap_shape *shape)
{
    return overlap_is_upper(shape) ? shape->elements : 0;
}

static inline int64_t overlap_one_block_of_both(const struct overlap_shape *shape)
{
    return overlap_is_lower(shape) || overlap_is_upper(shape) ? shape->elements : 0;
}

/* ---- values: for receive.value; overlap_sent_to_all is for send.value ------------------------ */

static inline double overlap_from_partner(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->partner, 0, i);
}

#endif
