/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of an operation's buffers: their number and their values. A value depends on its sender,
 * its receiver and its index, so missing, old and misplaced data show. All functions are local.
 */
#pragma once

#include "common/job/grid.h"

#include <stdbool.h>
#include <stdint.h>

/* Neighbours in the periodic 3D grid: down and up in each direction. */
#define OP_NEIGHBOURS BC_GRID_SIDES

/* Types of elements: MPI_DOUBLE, MPI_FLOAT, MPI_INT, and MPI_UNSIGNED_CHAR, since MPI can't reduce
   MPI_CHAR. */
enum op_type { OP_DOUBLE, OP_FLOAT, OP_INT, OP_CHAR, OP_TYPES };

enum op_reduction { OP_BY_SUM, OP_BY_MAX, OP_BY_MIN, OP_REDUCTIONS };

/* "double" ...; "sum" ... */
extern const char *const op_type_names[OP_TYPES];
extern const char *const op_reduction_names[OP_REDUCTIONS];

int64_t op_type_bytes(enum op_type type);

/* Ranks and amounts. */
struct op_shape {
    int rank, ranks, root;
    enum op_type type;
    enum op_reduction reduction;
    int64_t elements;      /* the count argument, or 0 if there is none */
    int partner;           /* in a pair: a rank, or MPI_PROC_NULL */
    const int *neighbours; /* on the grid: OP_NEIGHBOURS ranks; else NULL */
    const int64_t *starts; /* of blocks that differ in size: first elements; else NULL */
};

/* Number of elements in a buffer. In v and w variants a rank's amount grows with the rank. */
enum op_extent {
    OP_NO_BUFFER,
    OP_BLOCK, /* shape.elements */
    OP_BLOCK_PER_RANK,
    OP_BLOCK_PER_NEIGHBOUR,
    OP_OWN_AMOUNT, /* this rank's op_amount */
    OP_OWN_AMOUNT_PER_RANK,
    OP_ALL_AMOUNTS /* the sum of all ranks' op_amount */
};

/* Ranks whose buffer has elements. Pairs: see pairs.h. */
enum op_holders {
    OP_ON_ALL,
    OP_ON_ROOT,
    OP_ON_OTHERS, /* all except the root */
    OP_ON_LOWER,
    OP_ON_UPPER,
    OP_ON_PAIRS /* lower and upper */
};

/* Values sent from this rank ("me"), or received. Blocks are in the order of ranks, or of the
   grid's sides. */
enum op_values {
    OP_TO_ALL,
    OP_TO_EACH,
    OP_AMOUNT_TO_EACH, /* blocks of this rank's own amount */
    OP_FROM_ROOT,
    OP_FROM_ROOT_TO_ME,
    OP_FROM_EACH,
    OP_FROM_EACH_TO_ME,
    OP_BY_PARTNER,
    OP_SUM, /* sum or another reduction over all ranks */
    OP_SUM_TO_ME,
    OP_SUM_UP_TO_ME,
    OP_SUM_BELOW_ME /* undefined on rank 0 */
};

struct op_buffer {
    enum op_extent extent;
    enum op_holders holders;
    enum op_values values; /* of a receive buffer: after the operation */
};

/* Returns rank r's amount in v and w variants, the ceiling of 2 * elements * (r + 1) / (ranks + 1).
   The mean over ranks is about `elements`. */
int64_t op_amount(const struct op_shape *shape, int rank);
int64_t op_all_amounts(const struct op_shape *shape);

/* Returns the number of elements that the buffer has on the shape's rank. */
int64_t op_elements(const struct op_buffer *buffer, const struct op_shape *shape);

/* Returns element i of such values; NAN if the standard leaves it undefined. */
double op_element(const struct op_shape *shape, enum op_values values, int64_t i);
