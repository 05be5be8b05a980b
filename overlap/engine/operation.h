/* One non-blocking collective operation: what it is (struct overlap_collective, one a program) and
   its buffers for one size. Amounts are counted in elements of double precision. */
#ifndef COMMCOST_OVERLAP_ENGINE_OPERATION_H
#define COMMCOST_OVERLAP_ENGINE_OPERATION_H

#include "common/mpi/grid.h"
#include "common/mpi/large_count.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Neighbours in the periodic 3D grid: down and up in each direction. */
#define OVERLAP_NEIGHBOURS BC_GRID_SIDES

/* Who takes part and with how much. */
struct overlap_shape {
    int rank, ranks, root;
    int64_t elements; /* the count argument; 0 where there is none */
};

struct overlap_operation;

/* Starts an operation. */
typedef void overlap_post_fn(const struct overlap_operation *operation, MPI_Request *request);

/* How a collective arranges blocks in a buffer, and so how they are passed beyond ints. */
enum overlap_layout {
    OVERLAP_EQUAL,        /* blocks of the same size, no displacements: each block is one element of
                             a datatype */
    OVERLAP_REDUCED,      /* the same blocks, but operations such as MPI_SUM take predefined
                             datatypes only: MPI-4's large counts */
    OVERLAP_VARYING,      /* v variants, displacements in elements: MPI-4's large counts */
    OVERLAP_VARYING_BYTES /* w variant, displacements in bytes: each block is one element of a
                             datatype, with the displacement in it */
};

/* What a buffer holds. See shapes.h. */
struct overlap_buffer {
    int64_t (*elements)(const struct overlap_shape *shape); /* their number; NULL: no buffer */
    /* The value that element i has in a send buffer, or must have afterwards in a receive buffer
       (NAN: the standard leaves it undefined). */
    double (*value)(const struct overlap_operation *operation, int64_t i);
};

/* What a collective is. */
struct overlap_collective {
    const char *name; /* "iallreduce" */
    bool no_elements; /* it has no count argument */
    bool on_grid;     /* it needs the periodic 3D grid of neighbours */
    enum overlap_layout layout;
    /* How MPI_Get_library_version's text begins in libraries where it fails with blocks beyond
       INT_MAX bytes; NULL: none is known. */
    const char *fails_large_in;

    struct overlap_buffer send, receive; /* this rank's */

    /* Starts the operation; and starts it with large counts, where it needs them: see
       overlap_layout. NULL: not needed, or the library lacks them. */
    overlap_post_fn *post, *post_large;

    /* Instead of comparing data: runs the operation once in a way that shows whether it did what it
       must, and returns this rank's view. Collective. NULL: data are compared. What it keeps from
       one call to the next is in check_state, which end_check frees (collective). */
    bool (*check)(struct overlap_operation *operation);
    void (*end_check)(struct overlap_operation *operation);
};

/* The blocks of a buffer, one for each rank, as functions with int counts take them. */
struct overlap_blocks {
    int *amounts;
    int *displacements;  /* in bytes in w variants */
    MPI_Datatype *types; /* of w variants; beyond ints a block is one element of its type, at 0 */
};

/* ... and as those with large counts do: in elements. */
struct overlap_large_blocks {
    MPI_Count *amounts;
    MPI_Aint *displacements;
};

/* What calls count with, for post and for post_large, under the same names. Rank r's block has rank
   r's amount: shape.elements, or overlap_amount in v and w variants. `own` is for v and w variants
   in which a rank sends to each rank: all blocks have this rank's amount. */
struct overlap_counts {
    int count; /* shape.elements, of MPI_DOUBLE or as one element of another type */
    MPI_Datatype type;
    struct overlap_blocks by_rank, own;
};

struct overlap_large_counts {
    MPI_Count count;
    struct overlap_large_blocks by_rank, own;
};

/* The operation at one size. */
struct overlap_operation {
    const struct overlap_collective *collective;
    struct overlap_shape shape;
    MPI_Comm comm;         /* MPI_COMM_WORLD, or the grid */
    overlap_post_fn *post; /* the collective's post or post_large */
    double *send, *receive;
    struct overlap_counts counts; /* not with post_large */
    /* always made, without blocks if equal; by_rank.displacements are where v and w blocks start */
    struct overlap_large_counts large_counts;
    int neighbours[OVERLAP_NEIGHBOURS]; /* ranks; on the grid only */
    void *check_state;                  /* of `check`, freed by `end_check`; NULL: none yet */
};

/* Whether blocks differ in size. */
bool overlap_varies(const struct overlap_collective *collective);

/* Rank r's amount in v and w variants. It grows with r, and its mean is about `elements`: the
   ceiling of 2 * elements * (r + 1) / (ranks + 1). */
int64_t overlap_amount(const struct overlap_shape *shape, int rank);

/* The rank to or from which element i's block goes: blocks are in the order of ranks, or sides. */
int overlap_owner(const struct overlap_operation *operation, int64_t i);

/* The index of element i within its block. */
int64_t overlap_index(const struct overlap_operation *operation, int64_t i);

/* The bytes of the buffers on the rank that needs most. Allocates nothing. */
double overlap_bytes(const struct overlap_collective *collective,
                     const struct overlap_shape *shape);

/* Whether MPI's ints can hold the amounts; and whether the operation can start in any way. */
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
