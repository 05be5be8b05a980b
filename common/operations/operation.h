/*
 * One operation of MPI: what it is (struct op_kind), and its calls and buffers for one size.
 * Amounts are counted in elements.
 *
 * Programs run an operation by four calls and need know nothing else of it: `start` posts it, by
 * any number of requests; `between` stands between two parts of the work; `finish` completes it;
 * `blocking` does all of it at once, the way a program does that doesn't overlap anything.
 */
#pragma once

#include "common/memory/buffer.h"
#include "common/job/job.h"
#include "common/mpi/large_count.h"
#include "common/operations/counts.h"

struct bc_run;

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

/* What MPI_IN_PLACE stands for, in the forms that have it. */
enum op_in_place {
    OP_NOT_IN_PLACE,
    OP_WHOLE_IN_PLACE, /* what is sent: it lies in the receive buffer, where there is one */
    OP_BLOCK_IN_PLACE, /* the same, but only this rank's block does, where it belongs */
    OP_ROOT_KEEPS      /* what the root receives: its own block stays in its send buffer */
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

/* Whether blocks differ in size. */
static inline bool op_blocks_vary(const struct op_kind *kind)
{
    return kind->layout == OP_VARYING || kind->layout == OP_VARYING_BYTES;
}

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

/* Whether the MPI library has the persistent form, and it works. */
bool op_has_persistent(const struct op_kind *kind);

/* Whether MPI_Get_library_version's text begins so; false for NULL. Local. */
bool op_is_library(const char *begin);

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

/* Collective. */
void op_destroy(struct op_instance *operation);
