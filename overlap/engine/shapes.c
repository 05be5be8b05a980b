#include "overlap/engine/shapes.h"

#include "overlap/engine/values.h"

#include <math.h>

static bool is_root(const struct overlap_shape *shape)
{
    return shape->rank == shape->root;
}

int64_t overlap_one_block(const struct overlap_shape *shape)
{
    return shape->elements;
}

int64_t overlap_block_per_rank(const struct overlap_shape *shape)
{
    return shape->elements * shape->ranks;
}

int64_t overlap_block_per_neighbour(const struct overlap_shape *shape)
{
    return shape->elements * OVERLAP_NEIGHBOURS;
}

int64_t overlap_one_block_at_root(const struct overlap_shape *shape)
{
    return is_root(shape) ? shape->elements : 0;
}

int64_t overlap_one_block_but_at_root(const struct overlap_shape *shape)
{
    return is_root(shape) ? 0 : shape->elements;
}

int64_t overlap_block_per_rank_at_root(const struct overlap_shape *shape)
{
    return is_root(shape) ? overlap_block_per_rank(shape) : 0;
}

int64_t overlap_own_amount(const struct overlap_shape *shape)
{
    return overlap_amount(shape, shape->rank);
}

int64_t overlap_own_amount_per_rank(const struct overlap_shape *shape)
{
    return overlap_own_amount(shape) * shape->ranks;
}

int64_t overlap_all_amounts(const struct overlap_shape *shape)
{
    int64_t total = 0;
    for (int rank = 0; rank < shape->ranks; rank++)
        total += overlap_amount(shape, rank);
    return total;
}

int64_t overlap_all_amounts_at_root(const struct overlap_shape *shape)
{
    return is_root(shape) ? overlap_all_amounts(shape) : 0;
}

double overlap_sent_to_all(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->shape.rank, 0, i);
}

double overlap_sent_to_each(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->shape.rank, overlap_owner(operation, i),
                         overlap_index(operation, i));
}

double overlap_sent_amount_to_each(const struct overlap_operation *operation, int64_t i)
{
    const int64_t own = overlap_own_amount(&operation->shape);
    return overlap_value(operation->shape.rank, (int)(i / own), i % own);
}

double overlap_from_root(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->shape.root, 0, i);
}

double overlap_from_root_to_me(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(operation->shape.root, operation->shape.rank, i);
}

double overlap_from_each(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(overlap_owner(operation, i), 0, overlap_index(operation, i));
}

double overlap_from_each_to_me(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value(overlap_owner(operation, i), operation->shape.rank,
                         overlap_index(operation, i));
}

double overlap_sum(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value_sum(operation->shape.ranks, 0, i);
}

double overlap_sum_to_me(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value_sum(operation->shape.ranks, operation->shape.rank, i);
}

double overlap_sum_up_to_me(const struct overlap_operation *operation, int64_t i)
{
    return overlap_value_sum(operation->shape.rank + 1, 0, i);
}

double overlap_sum_below_me(const struct overlap_operation *operation, int64_t i)
{
    return operation->shape.rank == 0 ? NAN : overlap_value_sum(operation->shape.rank, 0, i);
}
