/* The words in which a collective's file says what it is: how much a rank sends and receives, and
   which values. */
#pragma once

#include "overlap/engine/operation.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- elements in a buffer: for send.elements and receive.elements ---------------------------- */

static inline int64_t overlap_one_block(const struct overlap_shape *shape)
{
    return shape->elements;
}

static inline int64_t overlap_block_per_rank(const struct overlap_shape *shape)
{
    return shape->elements * shape->ranks;
}

static inline int64_t overlap_block_per_neighbour(const struct overlap_shape *shape)
{
    return shape->elements * OVERLAP_NEIGHBOURS;
}

static inline bool overlap_is_root(const struct overlap_shape *shape)
{
    return shape->rank == shape->root;
}

static inline int64_t overlap_one_block_at_root(const struct overlap_shape *shape)
{
    return overlap_is_root(shape) ? shape->elements : 0;
}

static inline int64_t overlap_one_block_but_at_root(const struct overlap_shape *shape)
{
    return overlap_is_root(shape) ? 0 : shape->elements;
}

static inline int64_t overlap_block_per_rank_at_root(const struct overlap_shape *shape)
{
    return overlap_is_root(shape) ? overlap_block_per_rank(shape) : 0;
}

/* v and w variants: a rank's amount grows with the rank (overlap_amount). */

static inline int64_t overlap_own_amount(const struct overlap_shape *shape)
{
    return overlap_amount(shape, shape->rank);
}

static inline int64_t overlap_own_amount_per_rank(const struct overlap_shape *shape)
{
    return overlap_own_amount(shape) * shape->ranks;
}

static inline int64_t overlap_all_amounts(const struct overlap_shape *shape)
{
    int64_t total = 0;
    for (int rank = 0; rank < shape->ranks; rank++)
        total += overlap_amount(shape, rank);
    return total;
}

static inline int64_t overlap_all_amounts_at_root(const struct overlap_shape *shape)
{
    return overlap_is_root(shape) ? overlap_all_amounts(shape) : 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A value depends on who sent it, to whom, and on its index, so that blocks and elements that are
   missing, old, or in each other's place show, but for blocks that are OVERLAP_RECEIVERS apart. All
   are whole numbers that a double holds exactly, also when summed over up to two million ranks, so
   results are compared for equality. */
enum { OVERLAP_RECEIVERS = 2039 }; /* a prime */

/* What the values of a receiver's block differ by from those of the first one's. */
static inline double overlap_value_of_receiver(int to)
{
    return 1e6 * (double)(to % OVERLAP_RECEIVERS);
}

/* Element i of the block that rank `from` sends to rank `to` (0 where all ranks get the same). */
static inline double overlap_value(int from, int to, int64_t i)
{
    return (double)(from + 1) * (double)(i % 1021 + 1) + overlap_value_of_receiver(to);
}

/* The sum of overlap_value(from, to, i) over the ranks 0 <= from < ranks. */
static inline double overlap_value_sum(int ranks, int to, int64_t i)
{
    const double p = (double)ranks;
    return p * (p + 1.0) / 2.0 * (double)(i % 1021 + 1) + p * overlap_value_of_receiver(to);
}

/* ---- values: for send.value; blocks for each rank are in rank order -------------------------- */

static inline double overlap_sent_to_all(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->shape.rank, 0, i);
}

static inline double overlap_sent_to_each(const struct overlap_operation *operation, int64_t i)
{
    const struct overlap_place to = overlap_place_of(operation, i);
    return overlap_value(operation->shape.rank, to.rank, to.index);
}

/* Blocks of this rank's own amount, one for each rank. */
static inline double overlap_sent_amount_to_each(const struct overlap_operation *operation,
                                                 int64_t i)
{
    const int64_t own = overlap_own_amount(&operation->shape);
    return overlap_value(operation->shape.rank, (int)(i / own), i % own);
}

/* ---- values: for receive.value; "me" is this rank -------------------------------------------- */

static inline double overlap_from_root(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->shape.root, 0, i);
}

static inline double overlap_from_root_to_me(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->shape.root, operation->shape.rank, i);
}

static inline double overlap_from_each(const struct overlap_operation *operation, int64_t i)
{
    const struct overlap_place from = overlap_place_of(operation, i);
    return overlap_value(from.rank, 0, from.index);
}

static inline double overlap_from_each_to_me(const struct overlap_operation *operation, int64_t i)
{
    const struct overlap_place from = overlap_place_of(operation, i);
    return overlap_value(from.rank, operation->shape.rank, from.index);
}

static inline double overlap_sum(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value_sum(operation->shape.ranks, 0, i);
}

static inline double overlap_sum_to_me(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value_sum(operation->shape.ranks, operation->shape.rank, i);
}

static inline double overlap_sum_up_to_me(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value_sum(operation->shape.rank + 1, 0, i);
}

/* Undefined on rank 0. */
static inline double overlap_sum_below_me(const struct overlap_operation *operation, int64_t i)
{
    return operation->shape.rank == 0 ? NAN : overlap_value_sum(operation->shape.rank, 0, i);
}
