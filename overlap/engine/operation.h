/*
 * One non-blocking collective operation: what it is (struct
 * overlap_collective, one a program) and the buffers of one size of it.
 *
 * Amounts are counted in elements of double precision.
 */
#ifndef COMMCOST_OVERLAP_ENGINE_OPERATION_H
#define COMMCOST_OVERLAP_ENGINE_OPERATION_H

#include "common/mpi/large_count.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Neighbours in the periodic 3D grid: down and up in each direction. */
#define OVERLAP_NEIGHBOURS 6

/* Who takes part and with how much. */
struct overlap_shape {
    int rank, ranks, root;
    int64_t elements; /* the count argument; 0 where there is none */
};

struct overlap_operation;

/* Starts an operation. */
typedef void overlap_post_fn(const struct overlap_operation *operation, MPI_Request *request);

/* How a collective arranges more than one block in a buffer; this says how they
   are passed where ints don't count them any more. */
enum overlap_layout {
    OVERLAP_EQUAL,        /* blocks of the same size, no displacements: each is
                             one element of a datatype */
    OVERLAP_REDUCED,      /* the same, but operations such as MPI_SUM take
                             predefined datatypes only: MPI-4's large counts */
    OVERLAP_VARYING,      /* v variants, displacements in elements: the same */
    OVERLAP_VARYING_BYTES /* w variant, displacements in bytes: each block is one
                             element of a datatype that lies where it belongs */
};

/* MPI-4 has a function with large counts beside each with int counts; where it is
   not there, OVERLAP_LARGE is NULL. */
#if MPI_VERSION >= 4
#define OVERLAP_HAS_LARGE 1
#define OVERLAP_LARGE(post) (post)
#else
#define OVERLAP_HAS_LARGE 0
#define OVERLAP_LARGE(post) NULL
#endif

/* What a collective is. */
struct overlap_collective {
    const char *name; /* "iallreduce" */
    bool no_elements; /* it has no count argument */
    bool on_grid;     /* it needs the periodic 3D grid of neighbours */
    enum overlap_layout layout;
    /* How MPI_Get_library_version's text begins where it fails with blocks beyond
       INT_MAX bytes; NULL: nowhere that is known. */
    const char *fails_large_in;

    /* Elements in this rank's buffers. NULL: no buffers. */
    int64_t (*send_elements)(const struct overlap_shape *shape);
    int64_t (*receive_elements)(const struct overlap_shape *shape);

    /* Starts the operation; and starts it where ints don't count what it moves
       and datatypes don't help, with the large_ arrays: see overlap_layout.
       NULL: not needed, or the library can't. */
    overlap_post_fn *post, *post_large;

    /* The value that element i of this rank's send buffer has, and the one
       that element i of its receive buffer must have afterwards (NAN: the
       standard leaves it undefined). See shapes.h and values.h. */
    double (*sent)(const struct overlap_operation *operation, int64_t i);
    double (*expected)(const struct overlap_operation *operation, int64_t i);

    /* Instead of comparing data: runs the operation once in a way that shows
       whether it did what it must. Collective; the result is this rank's view.
       NULL: data are compared. What it keeps from one call to the next is in
       check_state, which end_check frees (collective). */
    bool (*check)(struct overlap_operation *operation);
    void (*end_check)(struct overlap_operation *operation);
};

/* The operation at one size. */
struct overlap_operation {
    const struct overlap_collective *collective;
    struct overlap_shape shape;
    MPI_Comm comm;          /* the world, or the grid */
    overlap_post_fn *post;  /* the collective's post or post_large */
    struct bc_amount block; /* shape.elements as MPI takes them; but for
                               post_large */
    double *send, *receive;
    int neighbours[OVERLAP_NEIGHBOURS]; /* ranks; on the grid only */

    /* v and w variants: where rank r's block starts, in elements. */
    int64_t *starts;
    /* Rank r's amount, which is `elements` but in v and w variants. */
    int *amounts;
    /* v and w variants: where rank r's block starts; and equal blocks of this
       rank's own amount, one a destination. In w variants displacements are in
       bytes. */
    int *displacements;
    int *own_amounts, *own_displacements;
    /* w variants: of rank r's block, and of this rank's own for rank r. All are
       MPI_DOUBLE; or one element of each is the block, its displacement 0. */
    struct bc_amount *blocks, *own_blocks;
    MPI_Datatype *types, *own_types;
    /* Of post_large, instead of those above. */
    MPI_Count *large_amounts, *large_own_amounts;
    MPI_Aint *large_displacements, *large_own_displacements;

    void *check_state; /* of `check`, freed by `end_check`; NULL: none yet */
};

/* Rank r's amount in v and w variants: the larger the higher r, and about
   `elements` in the mean: the ceiling of 2 * elements * (r + 1) / (ranks + 1).
 */
int64_t overlap_amount(const struct overlap_shape *shape, int rank);

/* The rank whose block holds element i, in the order of ranks: for equal
   blocks, and for v and w variants. */
int overlap_owner(const struct overlap_operation *operation, int64_t i);

/* The index of element i within its block. */
int64_t overlap_index(const struct overlap_operation *operation, int64_t i);

/* The bytes that the buffers of the neediest rank take, without allocating
   any; whether MPI's int arguments can hold the amounts; and whether the
   operation can be started, be it in another way. */
double overlap_bytes(const struct overlap_collective *collective,
                     const struct overlap_shape *shape);
bool overlap_fits_int(const struct overlap_collective *collective,
                      const struct overlap_shape *shape);
bool overlap_can_start(const struct overlap_collective *collective,
                       const struct overlap_shape *shape);

/* Allocates and fills the buffers. Collective over MPI_COMM_WORLD. */
void overlap_operation_create(struct overlap_operation *operation,
                              const struct overlap_collective *collective, int root,
                              int64_t elements);

/* Overwrites the receive buffer, so that old data can't pass for new. Local. */
void overlap_operation_poison(struct overlap_operation *operation);

/* True if the receive buffer holds what it must. Local. */
bool overlap_operation_verify(const struct overlap_operation *operation);

/* Collective. */
void overlap_operation_destroy(struct overlap_operation *operation);

#endif
