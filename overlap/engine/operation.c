#include "overlap/engine/operation.h"

#include "common/mpi_check.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t overlap_amount(const struct overlap_shape *shape, int rank)
{
    const int64_t parts = shape->ranks + 1;
    return (2 * shape->elements * (rank + 1) + parts - 1) / parts;
}

/* In w variants displacements are in bytes. */
static int displacement_unit(const struct overlap_operation *operation)
{
    return operation->collective->layout == OVERLAP_VARYING_BYTES
               ? (int)sizeof(double)
               : 1;
}

int overlap_owner(const struct overlap_operation *operation, int64_t i)
{
    if (operation->collective->layout == OVERLAP_EQUAL)
        return (int)(i / operation->shape.elements);
    /* The last rank whose block starts at or before i. */
    const int unit = displacement_unit(operation);
    int first = 0, last = operation->shape.ranks - 1;
    while (first < last) {
        const int middle = first + (last - first + 1) / 2;
        if (operation->displacements[middle] / unit <= i)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

int64_t overlap_index(const struct overlap_operation *operation, int64_t i)
{
    if (operation->collective->layout == OVERLAP_EQUAL)
        return i % operation->shape.elements;
    return i - operation->displacements[overlap_owner(operation, i)] /
                   displacement_unit(operation);
}

/* The elements of each buffer on the neediest rank. Rooted operations need most
   on the root, varying ones on the last rank; the first stands for all others.
 */
struct need {
    double send, receive, both;
};

static struct need most_elements(const struct overlap_collective *collective,
                                 struct overlap_shape shape)
{
    const int ranks[] = {shape.root, 0, shape.ranks - 1};
    struct need most = {0.0, 0.0, 0.0};
    if (collective->send_elements == NULL)
        return most;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        shape.rank = ranks[i];
        const double send = (double)collective->send_elements(&shape);
        const double receive = (double)collective->receive_elements(&shape);
        most.send = fmax(most.send, send);
        most.receive = fmax(most.receive, receive);
        most.both = fmax(most.both, send + receive);
    }
    return most;
}

double overlap_bytes(const struct overlap_collective *collective,
                     const struct overlap_shape *shape)
{
    return (double)sizeof(double) * most_elements(collective, *shape).both;
}

bool overlap_fits_int(const struct overlap_collective *collective,
                      const struct overlap_shape *shape)
{
    /* Blocks have int counts and displacements; and libraries count all blocks
       of an operation together in an int. */
    const double unit = collective->layout == OVERLAP_VARYING_BYTES
                            ? (double)sizeof(double)
                            : 1.0;
    if (shape->elements > INT_MAX)
        return false;
    const struct need most = most_elements(collective, *shape);
    return unit * fmax(most.send, most.receive) <= (double)INT_MAX;
}

static void *allocate(int64_t count, size_t size)
{
    void *const memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (memory == NULL)
        bc_abort("no memory for a buffer of %lld elements", (long long)count);
    return memory;
}

/* Doubles on a page boundary, every page touched. */
static double *allocate_doubles(int64_t count)
{
    enum { PAGE_BYTES = 4096 };
    const size_t bytes = (size_t)(count > 0 ? count : 1) * sizeof(double);
    double *const memory =
        aligned_alloc(PAGE_BYTES,
                      (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (memory == NULL)
        bc_abort("no memory for a buffer of %zu bytes", bytes);
    memset(memory, 0, bytes);
    return memory;
}

static void make_equal_amounts(struct overlap_operation *operation)
{
    operation->amounts = allocate(operation->shape.ranks, sizeof(int));
    for (int rank = 0; rank < operation->shape.ranks; rank++)
        operation->amounts[rank] = operation->count;
}

static void make_varying_amounts(struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    const int unit = displacement_unit(operation);
    const int own = (int)overlap_amount(shape, shape->rank);
    operation->amounts = allocate(shape->ranks, sizeof(int));
    operation->displacements = allocate(shape->ranks, sizeof(int));
    operation->own_amounts = allocate(shape->ranks, sizeof(int));
    operation->own_displacements = allocate(shape->ranks, sizeof(int));
    operation->types = allocate(shape->ranks, sizeof(MPI_Datatype));
    int start = 0;
    for (int rank = 0; rank < shape->ranks; rank++) {
        operation->amounts[rank] = (int)overlap_amount(shape, rank);
        operation->displacements[rank] = start * unit;
        operation->own_amounts[rank] = own;
        operation->own_displacements[rank] = rank * own * unit;
        operation->types[rank] = MPI_DOUBLE;
        start += operation->amounts[rank];
    }
}

static void make_grid(struct overlap_operation *operation)
{
    enum { DIMENSIONS = 3 };
    int sizes[DIMENSIONS] = {0, 0, 0};
    const int periodic[DIMENSIONS] = {1, 1, 1};
    BC_MPI(MPI_Dims_create(operation->shape.ranks, DIMENSIONS, sizes));
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, sizes, periodic, 0,
                           &operation->comm));
    int *neighbour = operation->neighbours;
    for (int direction = 0; direction < DIMENSIONS; direction++, neighbour += 2)
        BC_MPI(MPI_Cart_shift(operation->comm, direction, 1, &neighbour[0],
                              &neighbour[1]));
}

void overlap_operation_create(struct overlap_operation *operation,
                              const struct overlap_collective *collective,
                              int root, int64_t elements)
{
    *operation = (struct overlap_operation){
        .collective = collective,
        .shape = {.root = root, .elements = elements},
        .comm = MPI_COMM_WORLD,
        .count = (int)elements,
    };
    struct overlap_shape *const shape = &operation->shape;
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &shape->rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &shape->ranks));
    if (collective->layout == OVERLAP_EQUAL)
        make_equal_amounts(operation);
    else
        make_varying_amounts(operation);
    if (collective->on_grid)
        make_grid(operation);
    if (collective->send_elements == NULL)
        return;
    const int64_t send_count = collective->send_elements(shape);
    operation->send = allocate_doubles(send_count);
    operation->receive = allocate_doubles(collective->receive_elements(shape));
    for (int64_t i = 0; i < send_count; i++)
        operation->send[i] = collective->sent(operation, i);
}

void overlap_operation_poison(struct overlap_operation *operation)
{
    if (operation->receive == NULL)
        return;
    const int64_t count =
        operation->collective->receive_elements(&operation->shape);
    for (int64_t i = 0; i < count; i++)
        operation->receive[i] = -1.0;
}

bool overlap_operation_verify(const struct overlap_operation *operation)
{
    const struct overlap_collective *const collective = operation->collective;
    if (operation->receive == NULL)
        return true;
    const int64_t count = collective->receive_elements(&operation->shape);
    for (int64_t i = 0; i < count; i++) {
        const double expected = collective->expected(operation, i);
        /* A wrong bit makes another number: all expected ones are whole. */
        if (!isnan(expected) && !(operation->receive[i] == expected))
            return false;
    }
    return true;
}

void overlap_operation_destroy(struct overlap_operation *operation)
{
    if (operation->check_state != NULL)
        operation->collective->end_check(operation);
    if (operation->comm != MPI_COMM_WORLD)
        BC_MPI(MPI_Comm_free(&operation->comm));
    free(operation->send);
    free(operation->receive);
    free(operation->amounts);
    free(operation->displacements);
    free(operation->own_amounts);
    free(operation->own_displacements);
    free(operation->types);
}
