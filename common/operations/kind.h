/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Description of an operation: struct op_kind, a table in the operation's file. Amounts are counted
 * in elements.
 */
#pragma once

#include "common/operations/values.h"

struct bc_run;
struct op_instance;

/* Makes a call of the operation, in the timed region. */
typedef void op_call_fn(struct op_instance *operation);

/* How an operation is started. */
enum op_form {
    OP_NONBLOCKING, /* MPI_Iallreduce, MPI_Isend ... */
    OP_PERSISTENT,  /* MPI_Start of a request by MPI_Allreduce_init, MPI_Send_init ... */
    OP_FORMS,
    OP_BLOCKING_CALL /* `start` is the blocking counterpart */
};

/* "nonblocking", "persistent". */
extern const char *const op_form_names[OP_FORMS];

/* Arrangement of a collective's blocks in a buffer, and so how calls pass blocks beyond ints. */
enum op_layout {
    OP_EQUAL,        /* equal blocks, no displacements: a block is one element of a datatype */
    OP_REDUCED,      /* equal blocks, but MPI_SUM and so on take predefined datatypes only: MPI-4's
                        large counts */
    OP_VARYING,      /* v variants, displacements in elements: MPI-4's large counts */
    OP_VARYING_BYTES /* w variant, displacements in bytes: a block is one element of a datatype that
                        contains the displacement */
};

/* The `int` or the MPI_Count variant of the calls. NULL: the MPI library lacks the function. */
struct op_functions {
    op_call_fn *start;    /* nonblocking: posts requests[0] */
    op_call_fn *persist;  /* persistent: makes requests[0]; once, outside the timed region */
    op_call_fn *blocking; /* the blocking counterpart */
};

/* Meaning of MPI_IN_PLACE, in forms that have it. */
enum op_in_place {
    OP_NOT_IN_PLACE,
    OP_WHOLE_IN_PLACE, /* the receive buffer, if there is one, holds the data to send */
    OP_BLOCK_IN_PLACE, /* the receive buffer holds this rank's block, where it belongs */
    OP_ROOT_KEEPS      /* the root's own block stays in its send buffer */
};

struct op_kind {
    const char *name; /* "allreduce" */
    bool no_elements; /* no count argument, or sizes of another kind */
    bool on_grid;     /* needs the periodic 3D grid of neighbours */
    enum op_layout layout;
    struct op_buffer send, receive; /* this rank's */
    enum op_in_place in_place;

    struct op_functions functions;   /* with ints; `start` is never NULL */
    struct op_functions large;       /* with MPI_Count, if the layout needs it */
    const char *persistent_function; /* "MPI_Allreduce_init"; NULL: no such form */
    op_call_fn *finish;              /* NULL: MPI_Wait or MPI_Waitall */
    /* Does the part of a rank that doesn't work (see struct op_instance) in one operation of any
       form. NULL: all ranks work. */
    op_call_fn *serve;

    /* Writes notes at the beginning of a run. Collective. NULL: none. */
    void (*describe)(const struct bc_run *run);
    /* Sets comm, works, request_count, and rank and partner of the shape, before buffers are made.
       Collective. NULL: all ranks of MPI_COMM_WORLD, or of the grid, work and have one request. */
    void (*place)(struct op_instance *operation);
    /* Makes `own`, and may replace functions of the instance, before requests are made. Collective,
       as `destroy`. NULL: nothing. */
    void (*create)(struct op_instance *operation);
    void (*destroy)(struct op_instance *operation);
    /* Replaces the comparison of data: runs the operation once and returns true if it did its work.
       May make `own`. Collective. NULL: data are compared. */
    bool (*check)(struct op_instance *operation);
};

/* True if blocks differ in size. */
static inline bool op_blocks_vary(const struct op_kind *kind)
{
    return kind->layout == OP_VARYING || kind->layout == OP_VARYING_BYTES;
}

/* Features that are broken in some MPI libraries. */
enum op_feature { OP_LARGE_BLOCKS, OP_PERSISTENT_RESTART, OP_IN_PLACE_ROOT };

/* True if the feature is known to fail in this MPI library (kind.c). Local. */
bool op_is_broken(const struct op_kind *kind, enum op_feature feature);

/* True if the MPI library has the persistent form, and it works. Local. */
bool op_has_persistent(const struct op_kind *kind);
