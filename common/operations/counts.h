/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of an operation's buffers, and counts in its calls: ints; beyond ints, elements of
 * datatypes or the MPI_Count variants. All functions are local.
 */
#pragma once

#include "common/operations/kind.h"

#include <mpi.h>

/* Returns the bytes of both buffers on the rank that needs most. */
double op_bytes(const struct op_kind *kind, const struct op_shape *shape);

/* Returns the bytes of a block; the mean over ranks if blocks differ. */
double op_size_bytes(const struct op_kind *kind, const struct op_shape *shape);

/* The blocks of a buffer, one per rank: in int[] for the `int` variants, in MPI_Count[] and
   MPI_Aint[] for the large ones. */
struct op_blocks {
    void *amounts;
    void *displacements; /* in bytes in w variants, else in elements */
    MPI_Datatype *types; /* of w variants; beyond ints a block is one element of its type, at 0 */
};

/* Counts of a call. A rank's amount is shape.elements, or op_amount in v and w variants. */
struct op_counts {
    int64_t count; /* this rank's amount of elements, or one element of another type */
    MPI_Datatype type;
    MPI_Datatype element;
    struct op_blocks by_rank; /* block r has rank r's amount */
    struct op_blocks own; /* of v and w variants in which a rank sends to each rank: all blocks have
                             this rank's amount */
    int64_t *starts;      /* of v and w variants: starts of the blocks by_rank, in elements */
};

enum op_passing {
    OP_AS_INTS,  /* counts and displacements as they are */
    OP_AS_TYPES, /* the same functions, each block one element of a datatype */
    OP_AS_LARGE, /* the MPI_Count variants */
    OP_BEYOND    /* impossible: the MPI library lacks these variants, or fails with such blocks */
};

enum op_passing op_passing_of(const struct op_kind *kind, const struct op_shape *shape);

void op_counts_create(struct op_counts *counts, const struct op_kind *kind,
                      const struct op_shape *shape, MPI_Datatype element, enum op_passing passing);
void op_counts_destroy(struct op_counts *counts, int ranks);
