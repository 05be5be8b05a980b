/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/operations/operation.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/operations/buffers.h"

#include <stdlib.h>

/* ---- calls ----------------------------------------------------------------------------------- */

/* For the timed region. A completed request is not tested again: a program that sees the flag stops
   testing. */

static void test_one(struct op_instance *operation)
{
    if (!operation->complete)
        BC_MPI(MPI_Test(operation->requests, &operation->complete, MPI_STATUS_IGNORE));
}

static void test_all(struct op_instance *operation)
{
    if (!operation->complete)
        BC_MPI(MPI_Testall(operation->request_count, operation->requests, &operation->complete,
                           operation->statuses));
}

static void wait_for_one(struct op_instance *operation)
{
    BC_MPI(MPI_Wait(operation->requests, MPI_STATUS_IGNORE));
}

static void wait_for_all(struct op_instance *operation)
{
    BC_MPI(MPI_Waitall(operation->request_count, operation->requests, operation->statuses));
}

static void start_one(struct op_instance *operation) { BC_MPI(MPI_Start(operation->requests)); }

static void start_all(struct op_instance *operation)
{
    BC_MPI(MPI_Startall(operation->request_count, operation->requests));
}

static void make_requests(struct op_instance *operation, op_call_fn *persist)
{
    if (operation->borrows_requests)
        return;
    const int count = operation->request_count;
    operation->requests =
        bc_allocate((size_t)count, sizeof *operation->requests, "no memory for %d requests", count);
    for (int i = 0; i < count; i++)
        operation->requests[i] = MPI_REQUEST_NULL;
    if (operation->form == OP_PERSISTENT && operation->works)
        persist(operation);
}

static void do_nothing(struct op_instance *operation) { (void)operation; }

/* Sets the calls that `create` has not set, for the requests that it may have made. */
static void choose_calls(struct op_instance *operation, const struct op_functions *functions)
{
    const struct op_kind *const kind = operation->kind;
    const bool one = operation->request_count == 1;
    const bool blocks = operation->form == OP_BLOCKING_CALL;
    operation->blocking = functions->blocking;
    operation->start = blocks ? functions->blocking : functions->start;
    if (operation->form == OP_PERSISTENT)
        operation->start = one ? start_one : start_all;
    if (operation->between == NULL)
        operation->between = blocks ? do_nothing : one ? test_one : test_all;
    operation->finish = blocks ? do_nothing : one ? wait_for_one : wait_for_all;
    if (kind->finish != NULL)
        operation->finish = kind->finish;
    operation->serve = kind->serve;
    if (operation->serve_blocking == NULL)
        operation->serve_blocking = kind->serve;
}

static void free_requests(struct op_instance *operation)
{
    if (operation->borrows_requests)
        return;
    for (int i = 0; i < operation->request_count; i++)
        if (operation->requests[i] != MPI_REQUEST_NULL)
            BC_MPI(MPI_Request_free(&operation->requests[i]));
    free(operation->requests);
}

/* ---- the operation --------------------------------------------------------------------------- */

/* MPI_DOUBLE and so on need not be constants of C. */
static MPI_Datatype datatype_of(enum op_type type)
{
    return type == OP_DOUBLE  ? MPI_DOUBLE
           : type == OP_FLOAT ? MPI_FLOAT
           : type == OP_INT   ? MPI_INT
                              : MPI_UNSIGNED_CHAR;
}

static MPI_Op op_of(enum op_reduction reduction)
{
    return reduction == OP_BY_SUM ? MPI_SUM : reduction == OP_BY_MAX ? MPI_MAX : MPI_MIN;
}

void op_create_grid(int ranks, int dims[BC_GRID_DIMENSIONS], MPI_Comm *comm)
{
    static const int periodic[BC_GRID_DIMENSIONS] = {1, 1, 1};
    for (int d = 0; d < BC_GRID_DIMENSIONS; d++)
        dims[d] = 0;
    BC_MPI(MPI_Dims_create(ranks, BC_GRID_DIMENSIONS, dims));
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, BC_GRID_DIMENSIONS, dims, periodic, 0, comm));
}

void op_create(struct op_instance *operation, const struct op_kind *kind, const struct bc_job *job,
               const struct op_choice *choice)
{
    struct op_shape shape = {.root = choice->root,
                             .elements = choice->elements,
                             .type = choice->type,
                             .reduction = choice->reduction,
                             .partner = MPI_PROC_NULL};
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &shape.rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &shape.ranks));
    const enum op_passing passing = op_passing_of(kind, &shape);
    const struct op_functions *const functions =
        passing == OP_AS_LARGE ? &kind->large : &kind->functions;
    *operation = (struct op_instance){
        .kind = kind,
        .job = job,
        .shape = shape,
        .variant = choice->variant,
        .comm = MPI_COMM_WORLD,
        .works = true,
        .request_count = 1,
        .form = choice->form,
        .statuses = MPI_STATUSES_IGNORE,
        .type = datatype_of(choice->type),
        .op = op_of(choice->reduction),
        .in_place = choice->in_place,
    };
    if (choice->space != NULL)
        operation->space = *choice->space;
    op_counts_create(&operation->counts, kind, &shape, operation->type, passing);
    operation->shape.starts = operation->counts.starts;
    if (kind->on_grid) {
        op_create_grid(shape.ranks, operation->dims, &operation->comm);
        bc_grid_neighbours(operation->dims, shape.rank, operation->neighbours);
        operation->shape.neighbours = operation->neighbours;
    }
    if (kind->place != NULL)
        kind->place(operation);
    op_buffers_create(operation, choice->any_root);
    op_set_root(operation, shape.root);
    if (kind->create != NULL)
        kind->create(operation);
    make_requests(operation, functions->persist);
    choose_calls(operation, functions);
}

void op_destroy(struct op_instance *operation)
{
    free_requests(operation);
    if (operation->kind->destroy != NULL)
        operation->kind->destroy(operation);
    if (operation->comm != MPI_COMM_WORLD)
        BC_MPI(MPI_Comm_free(&operation->comm));
    op_buffers_destroy(operation);
    op_counts_destroy(&operation->counts, operation->shape.ranks);
}
