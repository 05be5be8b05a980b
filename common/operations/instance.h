/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operation at one size: its calls, counts and buffers.
 *
 * Programs run an operation by four calls: `start` posts it, with any number of requests; `between`
 * runs between two parts of the work; `finish` completes it; `blocking` is its blocking
 * counterpart.
 */
#pragma once

#include "common/job/job.h"
#include "common/memory/buffer.h"
#include "common/operations/counts.h"

/* Location of buffers. */
struct op_space {
    struct bc_device *device; /* NULL: in host memory */
    enum bc_memory send, receive;
};

/* Bytes to copy; 0 for a buffer in host memory, which MPI takes as it is. */
struct op_stretch {
    void *start;
    size_t bytes;
};

struct op_instance {
    const struct op_kind *kind;
    const struct bc_job *job;
    struct op_shape shape;
    const void *variant; /* of a kind that has several */
    int64_t parts;       /* of the work; 0: one more than the calls of MPI_Test */
    MPI_Comm comm;       /* of all ranks: MPI_COMM_WORLD, the grid, or the order of nodes */
    bool works;          /* false: this rank does no work and has no times; it serves a rank that
                            works */

    op_call_fn *start, *between, *finish;
    op_call_fn *blocking;               /* NULL: no blocking counterpart */
    op_call_fn *serve, *serve_blocking; /* calls of a rank that serves */
    MPI_Request
        *requests; /* of `start`; MPI_REQUEST_NULL when complete, persistent ones inactive */
    int request_count;
    bool borrows_requests; /* `create` has set the requests, and `destroy` frees them */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE, which is an empty array to gcc */
    enum op_form form;
    int complete; /* the flag of MPI_Test in `between`; the caller clears it before each start */

    void *send, *receive;                         /* for calls: the buffers, or MPI_IN_PLACE */
    struct bc_buffer send_buffer, receive_buffer; /* `start` is NULL if the kind has none */
    MPI_Datatype type;
    MPI_Op op;
    bool in_place; /* the same on all ranks; the kind decides which ranks pass MPI_IN_PLACE */
    struct op_space space;
    /* Data for op_copy_sent and op_copy_received, if buffers may lie on a device. */
    struct op_stretch sent, received;
    struct op_counts counts;
    int dims[BC_GRID_DIMENSIONS];  /* on the grid only */
    int neighbours[OP_NEIGHBOURS]; /* on the grid only: ranks */
    void *own;                     /* made by `create` or `check`, freed by `destroy` */

    /* Set by `create`, or NULL. Local. */
    void (*prepare)(struct op_instance *operation);  /* instead of buffers: makes data to send, and
                                                        overwrites data received */
    bool (*is_right)(struct op_instance *operation); /* true if the prepared data has arrived */
    void (*settle)(const struct op_instance *operation); /* synchronises the receive buffer: after a
                                                            store to it, before a read of it */
};
