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

/* The elements of both buffers on one rank. */
static double buffer_elements(const struct overlap_collective *collective,
                              struct overlap_shape shape, int rank)
{
    shape.rank = rank;
    if (collective->send_elements == NULL)
        return 0.0;
    return (double)collective->send_elements(&shape) +
           (double)collective->receive_elements(&shape);
}

double overlap_bytes(const struct overlap_collective *collective,
                     const struct overlap_shape *shape)
{
    /* Rooted operations need most on the root, varying ones on the last rank;
       the first rank stands for all others. */
    const double root = buffer_elements(collective, *shape, shape->root);
    const double first = buffer_elements(collective, *shape, 0);
    const double last = buffer_elements(collective, *shape, shape->ranks - 1);
    return (double)sizeof(double) * fmax(root, fmax(first, last));
}

bool overlap_fits_int(const struct overlap_collective *collective,
                      const struct overlap_shape *shape)
{
    const int64_t per_rank = shape->elements;
    const int64_t most = INT_MAX;
    switch (collective->layout) {
    case OVERLAP_EQUAL:
        /* Libraries count all blocks together in an int. */
        return per_rank <= most / (shape->ranks > OVERLAP_NEIGHBOURS
                                       ? shape->ranks
                                       : OVERLAP_NEIGHBOURS);
    case OVERLAP_VARYING:
        return per_rank <= most / 2 / (shape->ranks + 1);
    case OVERLAP_VARYING_BYTES:
        return per_rank <=
               most / 2 / (int64_t)sizeof(double) / (shape->ranks + 1);
    }
    return false;
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

/* The arrays of v and w variants; the amounts serve others too. */
static void make_amounts(struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    const bool equal = operation->collective->layout == OVERLAP_EQUAL;
    const int unit = displacement_unit(operation);
    const int own = equal ? operation->count
                          : (int)overlap_amount(shape, shape->rank);
    operation->amounts = allocate(shape->ranks, sizeof(int));
    operation->displacements = allocate(shape->ranks, sizeof(int));
    operation->own_amounts = allocate(shape->ranks, sizeof(int));
    operation->own_displacements = allocate(shape->ranks, sizeof(int));
    operation->types = allocate(shape->ranks, sizeof(MPI_Datatype));
    int start = 0;
    for (int rank = 0; rank < shape->ranks; rank++) {
        operation->amounts[rank] =
            equal ? operation->count : (int)overlap_amount(shape, rank);
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
        .window = MPI_WIN_NULL,
    };
    struct overlap_shape *const shape = &operation->shape;
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &shape->rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &shape->ranks));
    make_amounts(operation);
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
    if (operation->window != MPI_WIN_NULL) {
        BC_MPI(MPI_Win_unlock_all(operation->window));
        BC_MPI(MPI_Win_free(&operation->window));
    }
    if (operation->comm != MPI_COMM_WORLD)
        BC_MPI(MPI_Comm_free(&operation->comm));
    free(operation->send);
    free(operation->receive);
    free(operation->amounts);
    free(operation->displacements);
    free(operation->own_amounts);
    free(operation->own_displacements);
    free(operation->types);
    free(operation->mark);
}
