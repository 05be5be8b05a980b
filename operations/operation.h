/*
 * One operation of MPI: what it is (struct op_kind), and its calls and buffers for one size.
 * Amounts are counted in elements.
 *
 * Programs run an operation by four calls and need know nothing else of it: `start` posts it, by
 * any number of requests; `between` stands between two parts of the work; `finish` completes it;
 * `blocking` does all of it at once, the way a program does that doesn't overlap anything.
 */
#pragma once

#include "common/device/buffer.h"
#include "common/machine/job.h"
#include "common/layout/grid.h"
#include "common/large_count/large_count.h"

#include <mpi.h>
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

struct bc_run;
struct op_instance;

/* Makes a call of the operation, in the timed region. */
typedef void op_call_fn(struct op_instance *operation);

/* How an operation is started. */
enum op_form {
    OP_NONBLOCKING, /* MPI_Iallreduce, MPI_Isend ... */
    OP_PERSISTENT,  /* MPI_Start of what MPI_Allreduce_init, MPI_Send_init ... have made */
    OP_FORMS,
    OP_BLOCKING_CALL /* `start` is the blocking counterpart */
};

/* "nonblocking", "persistent". */
extern const char *const op_form_names[OP_FORMS];

/* The `int` or the MPI_Count variant of the calls. NULL: the MPI library lacks the function, or
   there is none. */
struct op_functions {
    op_call_fn *start;    /* nonblocking: posts requests[0] */
    op_call_fn *persist;  /* persistent: makes requests[0]; once, outside the timed region */
    op_call_fn *blocking; /* the blocking counterpart */
};

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

/* What MPI_IN_PLACE stands for, in the forms that have it. */
enum op_in_place {
    OP_NOT_IN_PLACE,
    OP_WHOLE_IN_PLACE, /* what is sent: it lies in the receive buffer, where there is one */
    OP_BLOCK_IN_PLACE, /* the same, but only this rank's block does, where it belongs */
    OP_ROOT_KEEPS      /* what the root receives: its own block stays in its send buffer */
};

struct op_buffer {
    enum op_extent extent;
    enum op_holders holders;
    enum op_values values; /* of a receive buffer: afterwards */
};

/* What an operation is. */
struct op_kind {
    const char *name; /* "iallreduce" */
    bool no_elements; /* it has no count argument, or sizes of another kind */
    bool on_grid;     /* it needs the periodic 3D grid of neighbours */
    enum op_layout layout;
    /* How MPI_Get_library_version's text begins in libraries where it fails with blocks beyond
       INT_MAX bytes; NULL: none is known. */
    const char *fails_large_in;
    /* The same of libraries whose persistent form brings wrong data from its second start on. */
    const char *fails_persistent_in;

    struct op_buffer send, receive; /* this rank's */
    enum op_in_place in_place;
    /* As fails_large_in, of libraries where the blocking form fails in place, unless the root is
       rank 0. */
    const char *fails_in_place_in;

    struct op_functions functions;   /* with ints; `start` is never NULL */
    struct op_functions large;       /* with MPI_Count, where it needs that: op_layout */
    bool variants_have_forms;        /* its variants know their form by themselves */
    const char *persistent_function; /* "MPI_Allreduce_init"; NULL: there is no such form */
    int requests;                    /* at most; 0: one */
    /* NULL: MPI_Test or MPI_Testall, and MPI_Wait or MPI_Waitall, of the requests. */
    op_call_fn *between, *finish;

    /* Writes notes at the beginning of a run. Collective. NULL: none. */
    void (*describe)(const struct bc_run *run);

    /* What a rank does that doesn't work (see struct op_instance), for one operation, in any
       form. NULL: all ranks work. */
    op_call_fn *serve;
    op_call_fn *serve_blocking; /* ... for the blocking counterpart; NULL: the same */

    /* Says who does what: may set comm, shape.rank, works and partner. Before buffers are made.
       Collective. NULL: MPI_COMM_WORLD, or the grid, and all ranks work. */
    void (*place)(struct op_instance *operation);
    /* Makes `own`: what it needs beside counts and buffers, before requests are made. Collective,
       both. NULL: nothing. */
    void (*create)(struct op_instance *operation);
    void (*destroy)(struct op_instance *operation);
    /* Instead of the buffers above: fills what is sent with new data, and what is received with
       other data; and says whether the right data has arrived. Local. NULL: buffers are used. */
    void (*prepare)(struct op_instance *operation);
    bool (*is_right)(struct op_instance *operation);
    /* Called when the receive buffer has been overwritten, before other ranks may access it; and
       before received data is looked at, when all ranks are done with the operation. Local. NULL:
       nothing. */
    void (*settle)(const struct op_instance *operation);

    /* Instead of comparing data: runs the operation once in a way that shows whether it did what it
       must, and returns this rank's view. Collective. NULL: data are compared. It may make `own`.
     */
    bool (*check)(struct op_instance *operation);
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

/* Where buffers lie. */
struct op_space {
    struct bc_device *device; /* NULL: in host memory */
    enum bc_memory send, receive;
};

/* A part of a buffer; no bytes where it lies in host memory, which MPI can be handed as it is. */
struct op_stretch {
    void *start;
    size_t bytes;
};

/* The operation at one size. */
struct op_instance {
    const struct op_kind *kind;
    const struct bc_job *job;
    struct op_shape shape;
    const void *variant; /* of a kind that has several: which one */
    int64_t parts;       /* into which the work is cut; 0: as the calls of MPI_Test say */
    MPI_Comm comm;       /* of all ranks: MPI_COMM_WORLD, the grid, or the order of nodes */
    bool works;  /* this rank has work to do meanwhile, and its times count; else it only does its
                    part of the operation for a rank that does */
    int partner; /* of messages: a rank of comm, or MPI_PROC_NULL */

    op_call_fn *start, *between, *finish;
    op_call_fn *blocking;  /* NULL: there is no blocking counterpart */
    MPI_Request *requests; /* what `start` posts; null where complete, but for persistent ones,
                              which stay */
    int request_count;
    bool borrows_requests; /* `create` has set them, and `destroy` frees them */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE, which gcc takes for an array of none */
    enum op_form form;
    int complete; /* what MPI_Test said in `between`; the caller clears it before each start */

    void *send, *receive;                         /* for calls: the buffers, or MPI_IN_PLACE */
    struct bc_buffer send_buffer, receive_buffer; /* `start` is NULL where the kind has none */
    MPI_Datatype type;
    MPI_Op op;
    enum op_reduction reduction;
    bool in_place; /* on all ranks alike; which of them have MPI_IN_PLACE the kind says */
    struct op_space space;
    /* Where buffers may lie on a device: what is sent and received, for op_copy_sent and
       op_copy_received. */
    struct op_stretch sent, received;
    struct op_counts counts;
    int dims[BC_GRID_DIMENSIONS];  /* on the grid only */
    int neighbours[OP_NEIGHBOURS]; /* ranks; on the grid only */
    void *own;                     /* of `create` or `check`, freed by `destroy` */
};

/* Rank r's amount in v and w variants. It grows with r, and its mean is about `elements`: the
   ceiling of 2 * elements * (r + 1) / (ranks + 1). */
int64_t op_amount(const struct op_shape *shape, int rank);

/* The number of elements that the buffer has on a rank. */
int64_t op_elements(const struct op_buffer *buffer, const struct op_shape *shape);

/* Element i of such values; NAN: the standard leaves it undefined. */
double op_element(const struct op_instance *operation, enum op_values values, int64_t i);

/* A value of doubles depends on who sent it, to whom, and on its index, so that blocks and elements
   that are missing, old, or in each other's place show, but for blocks that are OP_RECEIVERS apart.
   All are whole numbers that a double holds exactly, also when summed over up to two million ranks,
   so results are compared for equality. op_value is element i of the block that rank `from` sends
   to rank `to` (0 where all ranks get the same); op_value_sum is the sum of these over the
   ranks 0 <= from < ranks. Other types hold less: their values are below 128, and are the same
   again after 13 elements, for senders 7 apart and receivers 29 apart; sums of floats are exact up
   to 140,000 ranks, and those of OP_CHAR are those of numbers below 256. */
enum { OP_RECEIVERS = 2039 }; /* a prime */
double op_value(int from, int to, int64_t i);
double op_value_sum(int ranks, int to, int64_t i);

/* The bytes of the buffers on the rank that needs most. Allocates nothing. */
double op_bytes(const struct op_kind *kind, const struct op_shape *shape);

/* The bytes of one block; the mean over ranks where they differ. Local. */
double op_size_bytes(const struct op_instance *operation);

/* How the calls are made. */
enum op_passing {
    OP_AS_INTS,  /* counts and displacements as they are */
    OP_AS_TYPES, /* the same functions; each block is one element of a datatype */
    OP_AS_LARGE, /* by the MPI_Count variants */
    OP_BEYOND    /* not at all: the MPI library lacks these, or fails with such blocks */
};

/* Decides it, before anything is timed. Local. */
enum op_passing op_passing_of(const struct op_kind *kind, const struct op_shape *shape);

/* Whether the MPI library has the persistent form, and it works. */
bool op_has_persistent(const struct op_kind *kind);

/* Whether the blocking form fails in place in this MPI library, unless the root is rank 0. */
bool op_fails_in_place(const struct op_kind *kind);

/* Makes the periodic 3D grid of all ranks, in the order of MPI_COMM_WORLD. Collective. */
void op_create_grid(int ranks, int dims[BC_GRID_DIMENSIONS], MPI_Comm *comm);

/* Which operation of a kind. */
struct op_choice {
    enum op_form form;
    int root;
    int64_t elements;
    const void *variant;          /* as the kind's functions know it; NULL: there is one only */
    const struct op_space *space; /* NULL: host memory */
    enum op_type type;
    enum op_reduction reduction;
    bool in_place; /* of a kind that can be */
    bool any_root; /* all ranks have the buffers of the root, which op_set_root may change */
};

/* Allocates and fills the buffers, and makes the requests of the form persistent. The form must be
   one that the kind has. Collective over MPI_COMM_WORLD. */
void op_create(struct op_instance *operation, const struct op_kind *kind, const struct bc_job *job,
               const struct op_choice *choice);

/* Chooses another root, of an operation whose choice said any_root. Local; the same on all ranks,
   before the operation. */
void op_set_root(struct op_instance *operation, int root);

/* Moves the buffers to memory that is allocated now, and frees the former; a window's stays. Not of
   the form persistent, whose requests know the buffers. Local; before an operation. */
void op_renew(struct op_instance *operation);

/* Fills what is sent in place, which the operation before has overwritten. Before each operation
   that is in place and reduces or exchanges data; does nothing to others. Local. */
void op_refill(struct op_instance *operation);

/* Overwrites the receive buffer, so that old data can't pass for new. Local. */
void op_poison(struct op_instance *operation);

/* True if the receive buffer holds what it must, when all ranks are done with the operation. Local.
 */
bool op_verify(struct op_instance *operation);

/* For timed regions. The first copies what `from` sends, also in place, to `to`, the same operation
   in pinned memory; the second what `from` has received there to `to`. Nothing where that buffer
   lies in host memory, for which a program needs no copy. Local. */
void op_copy_sent(const struct op_instance *to, const struct op_instance *from);
void op_copy_received(const struct op_instance *to, const struct op_instance *from);

/* Collective. */
void op_destroy(struct op_instance *operation);
