#include "overlap/engine/operation.h"

#include "common/mpi/mpi_check.h"
#include "overlap/engine/counts.h"

#include <math.h>
#include <stdlib.h>

const char *const overlap_form_names[OVERLAP_FORMS] = {"nonblocking", "persistent"};

/* ---- calls ----------------------------------------------------------------------------------- */

/* These are in the timed region. A request that a test has completed is not tested again: a program
   that sees the flag stops asking. */

static void test_one(struct overlap_operation *operation)
{
    if (!operation->complete)
        BC_MPI(MPI_Test(operation->requests, &operation->complete, MPI_STATUS_IGNORE));
}

static void test_all(struct overlap_operation *operation)
{
    if (!operation->complete)
        BC_MPI(MPI_Testall(operation->request_count, operation->requests, &operation->complete,
                           operation->statuses));
}

static void wait_for_one(struct overlap_operation *operation)
{
    BC_MPI(MPI_Wait(operation->requests, MPI_STATUS_IGNORE));
}

static void wait_for_all(struct overlap_operation *operation)
{
    BC_MPI(MPI_Waitall(operation->request_count, operation->requests, operation->statuses));
}

static void start_one(struct overlap_operation *operation)
{
    BC_MPI(MPI_Start(operation->requests));
}

static void start_all(struct overlap_operation *operation)
{
    BC_MPI(MPI_Startall(operation->request_count, operation->requests));
}

bool overlap_has_form(const struct overlap_kind *kind, enum overlap_form form)
{
    return form == OVERLAP_NONBLOCKING ||
           (kind->functions.persist != NULL && !overlap_is_library(kind->fails_persistent_in));
}

static void make_requests(struct overlap_operation *operation)
{
    if (operation->borrows_requests)
        return;
    const int most = operation->kind->requests > 0 ? operation->kind->requests : 1;
    operation->requests =
        bc_allocate((size_t)most, sizeof *operation->requests, "no memory for %d requests", most);
    for (int i = 0; i < most; i++)
        operation->requests[i] = MPI_REQUEST_NULL;
    operation->request_count = most;
    if (operation->form == OVERLAP_PERSISTENT && operation->works)
        operation->chosen.persist(operation);
}

/* After the requests, of which a kind may have made fewer than it posts at most. */
static void choose_calls(struct overlap_operation *operation)
{
    const struct overlap_kind *const kind = operation->kind;
    const bool one = operation->request_count == 1;
    operation->start = operation->chosen.start;
    if (operation->form == OVERLAP_PERSISTENT)
        operation->start = one ? start_one : start_all;
    operation->between = one ? test_one : test_all;
    operation->finish = one ? wait_for_one : wait_for_all;
    if (kind->between != NULL)
        operation->between = kind->between;
    if (kind->finish != NULL)
        operation->finish = kind->finish;
    operation->blocking = operation->chosen.blocking;
}

static void free_requests(struct overlap_operation *operation)
{
    if (operation->borrows_requests)
        return;
    for (int i = 0; i < operation->request_count; i++)
        if (operation->requests[i] != MPI_REQUEST_NULL)
            BC_MPI(MPI_Request_free(&operation->requests[i]));
    free(operation->requests);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static double *allocate_doubles(int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    return bc_allocate_pages(bytes, "no memory for a buffer of %zu bytes", bytes);
}

static void make_buffers(struct overlap_operation *operation)
{
    const struct overlap_kind *const kind = operation->kind;
    const struct overlap_shape *const shape = &operation->shape;
    if (kind->send.elements == NULL)
        return;
    const int64_t send_count = kind->send.elements(shape);
    operation->send = allocate_doubles(send_count);
    operation->receive = allocate_doubles(kind->receive.elements(shape));
    for (int64_t i = 0; i < send_count; i++)
        operation->send[i] = kind->send.value(operation, i);
}

void overlap_operation_poison(struct overlap_operation *operation)
{
    if (operation->kind->prepare != NULL)
        operation->kind->prepare(operation);
    if (operation->receive == NULL)
        return;
    const int64_t count = operation->kind->receive.elements(&operation->shape);
    for (int64_t i = 0; i < count; i++)
        operation->receive[i] = -1.0;
    if (operation->kind->settle != NULL)
        operation->kind->settle(operation);
}

bool overlap_operation_verify(struct overlap_operation *operation)
{
    const struct overlap_kind *const kind = operation->kind;
    if (kind->settle != NULL)
        kind->settle(operation);
    if (kind->is_right != NULL)
        return kind->is_right(operation);
    if (operation->receive == NULL)
        return true;
    const int64_t count = kind->receive.elements(&operation->shape);
    for (int64_t i = 0; i < count; i++) {
        const double expected = kind->receive.value(operation, i);
        /* A wrong bit makes another number: all expected ones are whole. */
        if (!isnan(expected) && !(operation->receive[i] == expected))
            return false;
    }
    return true;
}

/* ---- the operation --------------------------------------------------------------------------- */

static void make_grid(struct overlap_operation *operation)
{
    static const int periodic[BC_GRID_DIMENSIONS] = {1, 1, 1};
    const struct overlap_shape *const shape = &operation->shape;
    int dims[BC_GRID_DIMENSIONS] = {0, 0, 0};
    BC_MPI(MPI_Dims_create(shape->ranks, BC_GRID_DIMENSIONS, dims));
    BC_MPI(
        MPI_Cart_create(MPI_COMM_WORLD, BC_GRID_DIMENSIONS, dims, periodic, 0, &operation->comm));
    bc_grid_neighbours(dims, shape->rank, operation->neighbours);
}

void overlap_operation_create(struct overlap_operation *operation, const struct overlap_kind *kind,
                              const struct bc_job *job, const struct overlap_choice *choice)
{
    *operation = (struct overlap_operation){
        .kind = kind,
        .job = job,
        .shape = {.root = choice->root, .elements = choice->elements},
        .variant = choice->variant,
        .comm = MPI_COMM_WORLD,
        .works = true,
        .partner = MPI_PROC_NULL,
        .form = choice->form,
        .statuses = MPI_STATUSES_IGNORE,
    };
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &operation->shape.rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &operation->shape.ranks));
    overlap_counts_create(operation);
    if (kind->on_grid)
        make_grid(operation);
    if (kind->place != NULL)
        kind->place(operation);
    make_buffers(operation);
    if (kind->create != NULL)
        kind->create(operation);
    make_requests(operation);
    choose_calls(operation);
}

void overlap_operation_destroy(struct overlap_operation *operation)
{
    if (operation->check_state != NULL)
        operation->kind->end_check(operation);
    free_requests(operation);
    if (operation->kind->destroy != NULL)
        operation->kind->destroy(operation);
    if (operation->comm != MPI_COMM_WORLD)
        BC_MPI(MPI_Comm_free(&operation->comm));
    free(operation->send);
    free(operation->receive);
    overlap_counts_destroy(operation);
}
