/*
 * The words in which a collective's file says what it is: how much a rank
 * sends and receives, and which values.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_SHAPES_H
#define COMMCOST_OVERLAP_ENGINE_SHAPES_H

#include "overlap/engine/operation.h"

#include <stdint.h>

/* ---- elements in a buffer: for send_elements and receive_elements ---------------------------- */

/* A block has `elements` elements. */
int64_t overlap_one_block(const struct overlap_shape *shape);
int64_t overlap_block_per_rank(const struct overlap_shape *shape);
int64_t overlap_block_per_neighbour(const struct overlap_shape *shape);
int64_t overlap_one_block_at_root(const struct overlap_shape *shape);
int64_t overlap_one_block_but_at_root(const struct overlap_shape *shape);
int64_t overlap_block_per_rank_at_root(const struct overlap_shape *shape);

/* v and w variants: a rank's amount grows with the rank (overlap_amount). */
int64_t overlap_own_amount(const struct overlap_shape *shape);
int64_t overlap_own_amount_per_rank(const struct overlap_shape *shape);
int64_t overlap_all_amounts(const struct overlap_shape *shape);
int64_t overlap_all_amounts_at_root(const struct overlap_shape *shape);

/* ---- values: for sent -------------------------------------------------------
   Where a buffer holds a block for each rank they are in rank order. */

double overlap_sent_to_all(const struct overlap_operation *operation, int64_t i);
double overlap_sent_to_each(const struct overlap_operation *operation, int64_t i);
/* Blocks of this rank's own amount, one for each rank. */
double overlap_sent_amount_to_each(const struct overlap_operation *operation, int64_t i);

/* ---- values: for expected -------------------------------------------------------------------- */

/* What the root sent to all, or to this rank. */
double overlap_from_root(const struct overlap_operation *operation, int64_t i);
double overlap_from_root_to_me(const struct overlap_operation *operation, int64_t i);

/* What each rank sent to all, or to this rank. */
double overlap_from_each(const struct overlap_operation *operation, int64_t i);
double overlap_from_each_to_me(const struct overlap_operation *operation, int64_t i);

/* The sum over all ranks of what they sent to all, or to this rank; and over
   the ranks up to this one, or below it (undefined on rank 0). */
double overlap_sum(const struct overlap_operation *operation, int64_t i);
double overlap_sum_to_me(const struct overlap_operation *operation, int64_t i);
double overlap_sum_up_to_me(const struct overlap_operation *operation, int64_t i);
double overlap_sum_below_me(const struct overlap_operation *operation, int64_t i);

#endif
