/*
 * What the buffers of an operation hold: how many elements, and which values. These depend on who
 * sends to whom, so that data which are missing, old, or in each other's place show. All functions
 * are local.
 */
#pragma once

#include "common/job/grid.h"

#include <stdbool.h>
#include <stdint.h>

/* Neighbours in the periodic 3D grid: down and up in each direction. */
#define OP_NEIGHBOURS BC_GRID_SIDES

/* What elements are: MPI_DOUBLE, MPI_FLOAT, MPI_INT, and MPI_UNSIGNED_CHAR, since MPI_CHAR, of
   characters, can't be reduced. */
enum op_type { OP_DOUBLE, OP_FLOAT, OP_INT, OP_CHAR, OP_TYPES };

/* How reductions combine elements. */
enum op_reduction { OP_BY_SUM, OP_BY_MAX, OP_BY_MIN, OP_REDUCTIONS };

/* "double" ...; "sum" ... */
extern const char *const op_type_names[OP_TYPES];
extern const char *const op_reduction_names[OP_REDUCTIONS];

int64_t op_type_bytes(enum op_type type);

/* Who takes part and with how much. */
struct op_shape {
    int rank, ranks, root;
    enum op_type type;
    int64_t elements; /* the count argument; 0 where there is none */
};

/* How much a buffer holds. In v and w variants a rank's amount grows with the rank. */
enum op_extent {
    OP_NO_BUFFER,
    OP_BLOCK, /* shape.elements */
    OP_BLOCK_PER_RANK,
    OP_BLOCK_PER_NEIGHBOUR,
    OP_OWN_AMOUNT, /* this rank's op_amount */
    OP_OWN_AMOUNT_PER_RANK,
    OP_ALL_AMOUNTS /* one of each rank */
};

/* On which ranks; on others it holds nothing. Pairs: see pairs.h. */
enum op_holders {
    OP_ON_ALL,
    OP_ON_ROOT,
    OP_ON_OTHERS, /* all but the root */
    OP_ON_LOWER,
    OP_ON_UPPER,
    OP_ON_PAIRS /* both */
};

/* Which values: sent from this rank ("me"), or received; blocks are in the order of ranks, or sides
   of the grid. */
enum op_values {
    OP_TO_ALL,
    OP_TO_EACH,
    OP_AMOUNT_TO_EACH, /* blocks of this rank's own amount */
    OP_FROM_ROOT,
    OP_FROM_ROOT_TO_ME,
    OP_FROM_EACH,
    OP_FROM_EACH_TO_ME,
    OP_BY_PARTNER,
    OP_SUM, /* or another reduction: over all ranks */
    OP_SUM_TO_ME,
    OP_SUM_UP_TO_ME,
    OP_SUM_BELOW_ME /* undefined on rank 0 */
};

struct op_buffer {
    enum op_extent extent;
    enum op_holders holders;
    enum op_values values; /* of a receive buffer: afterwards */
};

struct op_kind;
struct op_instance;

/* Rank r's amount in v and w variants. It grows with r, and its mean is about `elements`: the
   ceiling of 2 * elements * (r + 1) / (ranks + 1). */
int64_t op_amount(const struct op_shape *shape, int rank);

/* The number of elements that the buffer has on a rank. */
int64_t op_elements(const struct op_buffer *buffer, const struct op_shape *shape);

/* Element i of such values; NAN: the standard leaves it undefined. */
double op_element(const struct op_instance *operation, enum op_values values, int64_t i);

/* The elements of both buffers, or of the larger one, on the rank that needs most. */
double op_max_elements(const struct op_kind *kind, const struct op_shape *shape, bool both);

/* The bytes of both buffers on that rank. */
double op_bytes(const struct op_kind *kind, const struct op_shape *shape);

/* The bytes of one block; the mean over ranks where they differ. */
double op_size_bytes(const struct op_instance *operation);
