/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Psend_init: a rank sends its partner a message in parts, each marked ready (MPI_Pready) after
 * its part of the work. The blocking counterpart is one MPI_Send after all the work. The variant is
 * the number of parts, an int64_t. MPI-4, chapter 4.
 */
#include "common/memory/allocate.h"
#include "common/operations/pairs.h"

#include <stdlib.h>

/* A rank's end of the message. */
struct end {
    MPI_Request request;
    int partitions;
    int next; /* the partition to mark ready */
};

static void start(struct op_instance *operation)
{
    struct end *const end = operation->own;
    end->next = 0;
    BC_MPI(MPI_Start(&end->request));
}

static void mark_next(struct op_instance *operation)
{
    struct end *const end = operation->own;
    BC_MPI(MPI_Pready(end->next++, end->request));
}

static void finish(struct op_instance *operation)
{
    struct end *const end = operation->own;
    /* The last part follows the last work; without work all parts are left. */
    while (end->next < end->partitions)
        BC_MPI(MPI_Pready(end->next++, end->request));
    BC_MPI(MPI_Wait(&end->request, MPI_STATUS_IGNORE));
}

static void receive(struct op_instance *operation)
{
    struct end *const end = operation->own;
    if (end->request == MPI_REQUEST_NULL)
        return;
    BC_MPI(MPI_Start(&end->request));
    BC_MPI(MPI_Wait(&end->request, MPI_STATUS_IGNORE));
}

static void create(struct op_instance *operation)
{
    struct end *const end = bc_allocate(1, sizeof *end, "no memory for a message");
    const int64_t partitions = *(const int64_t *)operation->variant;
    const MPI_Count count = (MPI_Count)(operation->shape.elements / partitions);
    *end = (struct end){.request = MPI_REQUEST_NULL, .partitions = (int)partitions};
    if (operation->works)
        BC_MPI(MPI_Psend_init(operation->send, end->partitions, count, MPI_DOUBLE,
                              operation->shape.partner, OP_TAG, operation->comm, MPI_INFO_NULL,
                              &end->request));
    else if (operation->shape.partner != MPI_PROC_NULL)
        BC_MPI(MPI_Precv_init(operation->receive, end->partitions, count, MPI_DOUBLE,
                              operation->shape.partner, OP_TAG, operation->comm, MPI_INFO_NULL,
                              &end->request));
    operation->own = end;
    operation->parts = partitions;
    operation->between = mark_next;
    operation->serve_blocking = op_receive_block;
}

static void destroy(struct op_instance *operation)
{
    struct end *const end = operation->own;
    if (end->request != MPI_REQUEST_NULL)
        BC_MPI(MPI_Request_free(&end->request));
    free(end);
}

const struct op_kind op_partitioned = {
    .name = "partitioned",
    .functions = {.start = start, .blocking = op_send_block},
    .finish = finish,
    .serve = receive,
    .create = create,
    .destroy = destroy,
    OP_LOWER_SENDS,
};
