/*
 * What calls count with: ints, beyond them elements of datatypes, or the MPI_Count variants.
 */
#pragma once

#include "common/operations/values.h"

#include <mpi.h>

/* How a collective arranges blocks in a buffer, and so how they are passed beyond ints. */
enum op_layout {
    OP_EQUAL,        /* blocks of the same size, no displacements: each block is one element of a
                        datatype */
    OP_REDUCED,      /* the same blocks, but operations such as MPI_SUM take predefined datatypes
                        only: MPI-4's large counts */
    OP_VARYING,      /* v variants, displacements in elements: MPI-4's large counts */
    OP_VARYING_BYTES /* w variant, displacements in bytes: each block is one element of a datatype,
                        with the displacement in it */
};

/* The blocks of a buffer, one for each rank: in int[] for the `int` variants, in MPI_Count[] and
   MPI_Aint[] for the others. */
struct op_blocks {
    void *amounts;
    void *displacements; /* in bytes in w variants, else in elements */
    MPI_Datatype *types; /* of w variants; beyond ints a block is one element of its type, at 0 */
};

/* What calls count with. Rank r's block has rank r's amount: shape.elements, or op_amount in v
   and w variants. */
struct op_counts {
    int64_t count; /* this rank's amount of elements, or one element of another type */
    MPI_Datatype type;
    struct op_blocks by_rank;
    struct op_blocks own; /* of v and w variants in which a rank sends to each rank: all blocks have
                             this rank's amount */
    int64_t *starts;      /* of v and w variants: of the blocks by_rank, in elements */
};

/* How the calls are made. */
enum op_passing {
    OP_AS_INTS,  /* counts and displacements as they are */
    OP_AS_TYPES, /* the same functions; each block is one element of a datatype */
    OP_AS_LARGE, /* by the MPI_Count variants */
    OP_BEYOND    /* not at all: the MPI library lacks these, or fails with such blocks */
};

/* Decides it, before anything is timed. Local. */
enum op_passing op_passing_of(const struct op_kind *kind, const struct op_shape *shape);

/* Makes operation->counts and what they name, and frees it. Local. */
void op_counts_create(struct op_instance *operation, enum op_passing passing);
void op_counts_destroy(struct op_instance *operation);
