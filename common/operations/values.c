/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/operations/values.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>

const char *const op_type_names[OP_TYPES] = {"double", "float", "int", "char"};
const char *const op_reduction_names[OP_REDUCTIONS] = {"sum", "max", "min"};

int64_t op_type_bytes(enum op_type type)
{
    static const size_t bytes[] = {sizeof(double), sizeof(float), sizeof(int), sizeof(char)};
    return (int64_t)bytes[type];
}

/* ---- amounts --------------------------------------------------------------------------------- */

int64_t op_amount(const struct op_shape *shape, int rank)
{
    const int64_t parts = shape->ranks + 1;
    return (2 * shape->elements * (rank + 1) + parts - 1) / parts;
}

/* Location of an element: the block that goes to or from this rank, and the index in it. */
struct element_place {
    int rank;
    int64_t index;
};

static struct element_place place_of(const struct op_shape *shape, int64_t i)
{
    const int64_t elements = shape->elements, *const starts = shape->starts;
    if (starts == NULL) {
        const int block = (int)(i / elements);
        return (struct element_place){shape->neighbours != NULL ? shape->neighbours[block] : block,
                                      i % elements};
    }
    /* The last rank whose block starts at or before i. */
    int first = 0, last = shape->ranks - 1;
    while (first < last) {
        const int middle = first + (last - first + 1) / 2;
        if (starts[middle] <= i)
            first = middle;
        else
            last = middle - 1;
    }
    return (struct element_place){first, i - starts[first]};
}

int64_t op_all_amounts(const struct op_shape *shape)
{
    int64_t total = 0;
    for (int rank = 0; rank < shape->ranks; rank++)
        total += op_amount(shape, rank);
    return total;
}

int64_t op_elements(const struct op_buffer *buffer, const struct op_shape *shape)
{
    const int rank = shape->rank, half = shape->ranks / 2;
    const bool holds[] = {
        [OP_ON_ALL] = true,
        [OP_ON_ROOT] = rank == shape->root,
        [OP_ON_OTHERS] = rank != shape->root,
        [OP_ON_LOWER] = rank < half,
        [OP_ON_UPPER] = rank >= half && rank < 2 * half,
        [OP_ON_PAIRS] = rank < 2 * half,
    };
    if (!holds[buffer->holders])
        return 0;
    switch (buffer->extent) {
    case OP_BLOCK:
        return shape->elements;
    case OP_BLOCK_PER_RANK:
        return shape->elements * shape->ranks;
    case OP_BLOCK_PER_NEIGHBOUR:
        return shape->elements * OP_NEIGHBOURS;
    case OP_OWN_AMOUNT:
        return op_amount(shape, rank);
    case OP_OWN_AMOUNT_PER_RANK:
        return op_amount(shape, rank) * shape->ranks;
    case OP_ALL_AMOUNTS:
        return op_all_amounts(shape);
    default:
        return 0;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Senders, receivers and elements a period apart have the same value. All values are whole numbers,
   so results are compared for equality: doubles hold them exactly, even sums over two million
   ranks. Values of other types are below 128: sums of floats are exact up to 140,000 ranks, sums of
   OP_CHAR are modulo 256. */
struct periods {
    int64_t senders, elements, receivers;
    int64_t step; /* between the values of two receivers */
};

static const struct periods *periods_of(enum op_type type)
{
    static const struct periods of_doubles = {INT_MAX, 1021, 2039, 1000000},
                                others = {7, 13, 29, 1};
    return type == OP_DOUBLE ? &of_doubles : &others;
}

/* Returns element i of the block from rank `from` to rank `to`; 0 if all ranks get the same. */
static double value(enum op_type type, int from, int to, int64_t i)
{
    const struct periods *const every = periods_of(type);
    return (double)((from % every->senders + 1) * (i % every->elements + 1) +
                    to % every->receivers * every->step);
}

/* Returns the sum of the values of the ranks below `ranks`. */
static double sum(enum op_type type, int ranks, int to, int64_t i)
{
    const struct periods *const every = periods_of(type);
    const int64_t rounds = ranks / every->senders, rest = ranks % every->senders;
    const int64_t senders =
        rounds * (every->senders * (every->senders + 1) / 2) + rest * (rest + 1) / 2;
    const int64_t total =
        senders * (i % every->elements + 1) + ranks * (to % every->receivers * every->step);
    return (double)(type == OP_CHAR ? total % (UCHAR_MAX + 1) : total);
}

/* Returns the combined values of the ranks below `ranks`; values grow up to the period. */
static double reduced(const struct op_shape *shape, int ranks, int to, int64_t i)
{
    const enum op_type type = shape->type;
    const int64_t period = periods_of(type)->senders;
    if (shape->reduction == OP_BY_MAX)
        return value(type, (int)(ranks < period ? ranks : period) - 1, to, i);
    if (shape->reduction == OP_BY_MIN)
        return value(type, 0, to, i);
    return sum(type, ranks, to, i);
}

double op_element(const struct op_shape *shape, enum op_values values, int64_t i)
{
    const enum op_type type = shape->type;
    const int me = shape->rank;
    const int64_t own = op_amount(shape, me);
    const struct element_place at = place_of(shape, i);
    switch (values) {
    case OP_TO_EACH:
        return value(type, me, at.rank, at.index);
    case OP_AMOUNT_TO_EACH:
        return value(type, me, (int)(i / own), i % own);
    case OP_FROM_ROOT:
        return value(type, shape->root, 0, i);
    case OP_FROM_ROOT_TO_ME:
        return value(type, shape->root, me, i);
    case OP_FROM_EACH:
        return value(type, at.rank, 0, at.index);
    case OP_FROM_EACH_TO_ME:
        return value(type, at.rank, me, at.index);
    case OP_BY_PARTNER:
        return value(type, shape->partner, 0, i);
    case OP_SUM:
        return reduced(shape, shape->ranks, 0, i);
    case OP_SUM_TO_ME:
        return reduced(shape, shape->ranks, me, i);
    case OP_SUM_UP_TO_ME:
        return reduced(shape, me + 1, 0, i);
    case OP_SUM_BELOW_ME:
        return me == 0 ? NAN : reduced(shape, me, 0, i);
    default: /* OP_TO_ALL */
        return value(type, me, 0, i);
    }
}
