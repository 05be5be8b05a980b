#include "overlap/engine/operation.h"

#include "common/mpi/mpi_check.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t overlap_amount(const struct overlap_shape *shape, int rank)
{
    const int64_t parts = shape->ranks + 1;
    return (2 * shape->elements * (rank + 1) + parts - 1) / parts;
}

static bool has_starts(const struct overlap_collective *collective)
{
    return collective->layout == OVERLAP_VARYING || collective->layout == OVERLAP_VARYING_BYTES;
}

/* In w variants displacements are in bytes. */
static int64_t displacement_unit(const struct overlap_collective *collective)
{
    return collective->layout == OVERLAP_VARYING_BYTES ? (int64_t)sizeof(double) : 1;
}

int overlap_owner(const struct overlap_operation *operation, int64_t i)
{
    if (!has_starts(operation->collective))
        return (int)(i / operation->shape.elements);
    /* The last rank whose block starts at or before i. */
    int first = 0, last = operation->shape.ranks - 1;
    while (first < last) {
        const int middle = first + (last - first + 1) / 2;
        if (operation->starts[middle] <= i)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

int64_t overlap_index(const struct overlap_operation *operation, int64_t i)
{
    if (!has_starts(operation->collective))
        return i % operation->shape.elements;
    return i - operation->starts[overlap_owner(operation, i)];
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

double overlap_bytes(const struct overlap_collective *collective, const struct overlap_shape *shape)
{
    return (double)sizeof(double) * most_elements(collective, *shape).both;
}

bool overlap_fits_int(const struct overlap_collective *collective,
                      const struct overlap_shape *shape)
{
    /* Blocks have int counts and displacements; and libraries count all blocks
       of an operation together in an int. */
    if (shape->elements > BC_COUNT_MAX)
        return false;
    const struct need most = most_elements(collective, *shape);
    return (double)displacement_unit(collective) * fmax(most.send, most.receive) <=
           (double)BC_COUNT_MAX;
}

/* Whether amounts beyond ints need another function. */
static bool needs_post_large(const struct overlap_collective *collective)
{
    return collective->layout == OVERLAP_REDUCED || collective->layout == OVERLAP_VARYING;
}

/* Whether this library fails with blocks of this size. */
static bool fails_large(const struct overlap_collective *collective,
                        const struct overlap_shape *shape)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (collective->fails_large_in == NULL || shape->elements <= INT_MAX / (int64_t)sizeof(double))
        return false;
    BC_MPI(MPI_Get_library_version(version, &length));
    return strncmp(version, collective->fails_large_in, strlen(collective->fails_large_in)) == 0;
}

bool overlap_can_start(const struct overlap_collective *collective,
                       const struct overlap_shape *shape)
{
    if (fails_large(collective, shape))
        return false;
    return overlap_fits_int(collective, shape) || !needs_post_large(collective) ||
           collective->post_large != NULL;
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
        aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (memory == NULL)
        bc_abort("no memory for a buffer of %zu bytes", bytes);
    memset(memory, 0, bytes);
    return memory;
}

static void make_starts(struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    operation->starts = allocate(shape->ranks, sizeof *operation->starts);
    int64_t start = 0;
    for (int rank = 0; rank < shape->ranks; rank++) {
        operation->starts[rank] = start;
        start += overlap_amount(shape, rank);
    }
}

/* Rank r's amount, by the collective's layout. */
static int64_t amount_of(const struct overlap_operation *operation, int rank)
{
    return has_starts(operation->collective) ? overlap_amount(&operation->shape, rank)
                                             : operation->shape.elements;
}

static void make_arrays(struct overlap_operation *operation)
{
    const int ranks = operation->shape.ranks;
    operation->amounts = allocate(ranks, sizeof(int));
    if (!has_starts(operation->collective))
        return;
    operation->displacements = allocate(ranks, sizeof(int));
    operation->own_amounts = allocate(ranks, sizeof(int));
    operation->own_displacements = allocate(ranks, sizeof(int));
}

/* Whether the rank sends a block of its own amount to each rank. Only then is there
   room for as many, and need of their amounts and displacements. */
static bool sends_blocks_to_each(const struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    return operation->collective->send_elements(shape) ==
           shape->ranks * amount_of(operation, shape->rank);
}

/* As ints. */
static void fill_arrays(struct overlap_operation *operation)
{
    const int ranks = operation->shape.ranks;
    for (int rank = 0; rank < ranks; rank++)
        operation->amounts[rank] = bc_as_count(amount_of(operation, rank));
    if (!has_starts(operation->collective))
        return;
    const int64_t unit = displacement_unit(operation->collective);
    const int64_t own = amount_of(operation, operation->shape.rank);
    const bool sends_to_each = sends_blocks_to_each(operation);
    for (int rank = 0; rank < ranks; rank++) {
        operation->displacements[rank] = bc_as_count(operation->starts[rank] * unit);
        if (!sends_to_each)
            continue;
        operation->own_amounts[rank] = bc_as_count(own);
        operation->own_displacements[rank] = bc_as_count(rank * own * unit);
    }
}

/* As MPI-4's large counts. */
static void make_large_arrays(struct overlap_operation *operation)
{
    const int ranks = operation->shape.ranks;
    const int64_t own = amount_of(operation, operation->shape.rank);
    const bool varying = has_starts(operation->collective);
    operation->large_amounts = allocate(ranks, sizeof(MPI_Count));
    operation->large_own_amounts = allocate(ranks, sizeof(MPI_Count));
    operation->large_displacements = allocate(ranks, sizeof(MPI_Aint));
    operation->large_own_displacements = allocate(ranks, sizeof(MPI_Aint));
    for (int rank = 0; rank < ranks; rank++) {
        operation->large_amounts[rank] = (MPI_Count)amount_of(operation, rank);
        operation->large_own_amounts[rank] = (MPI_Count)own;
        if (!varying)
            continue;
        operation->large_displacements[rank] = (MPI_Aint)operation->starts[rank];
        operation->large_own_displacements[rank] = (MPI_Aint)(rank * own);
    }
}

/* As datatypes, of which there is one element each, at displacement 0. */
static void make_blocks(struct overlap_operation *operation)
{
    const int ranks = operation->shape.ranks;
    const MPI_Aint value_bytes = (MPI_Aint)sizeof(double);
    const int64_t own = amount_of(operation, operation->shape.rank);
    operation->blocks = allocate(ranks, sizeof *operation->blocks);
    operation->own_blocks = allocate(ranks, sizeof *operation->own_blocks);
    for (int rank = 0; rank < ranks; rank++) {
        bc_amount_create_at(&operation->blocks[rank], amount_of(operation, rank), MPI_DOUBLE,
                            operation->starts[rank] * value_bytes);
        bc_amount_create_at(&operation->own_blocks[rank], own, MPI_DOUBLE,
                            rank * own * value_bytes);
        operation->amounts[rank] = operation->blocks[rank].count;
        operation->own_amounts[rank] = operation->own_blocks[rank].count;
        operation->displacements[rank] = 0;
        operation->own_displacements[rank] = 0;
    }
}

static void make_types(struct overlap_operation *operation)
{
    const int ranks = operation->shape.ranks;
    operation->types = allocate(ranks, sizeof(MPI_Datatype));
    operation->own_types = allocate(ranks, sizeof(MPI_Datatype));
    for (int rank = 0; rank < ranks; rank++) {
        const bool made = operation->blocks != NULL;
        operation->types[rank] = made ? operation->blocks[rank].type : MPI_DOUBLE;
        operation->own_types[rank] = made ? operation->own_blocks[rank].type : MPI_DOUBLE;
    }
}

/* How the amounts are passed: see overlap_layout. */
static void make_amounts(struct overlap_operation *operation)
{
    const struct overlap_collective *const collective = operation->collective;
    const int64_t elements = operation->shape.elements;
    const bool fits = overlap_fits_int(collective, &operation->shape);
    operation->post = collective->post;
    if (has_starts(collective))
        make_starts(operation);
    if (!fits && needs_post_large(collective)) {
        operation->post = collective->post_large;
        make_large_arrays(operation);
        return;
    }
    if (fits)
        bc_amount_create(&operation->block, elements, MPI_DOUBLE);
    else
        bc_amount_create_at(&operation->block, elements, MPI_DOUBLE, 0);
    make_arrays(operation);
    if (fits)
        fill_arrays(operation);
    else if (collective->layout == OVERLAP_VARYING_BYTES)
        make_blocks(operation);
    if (collective->layout == OVERLAP_VARYING_BYTES)
        make_types(operation);
}

static void free_amounts(struct overlap_operation *operation)
{
    bc_amount_destroy(&operation->block);
    for (int rank = 0; rank < operation->shape.ranks; rank++)
        if (operation->blocks != NULL) {
            bc_amount_destroy(&operation->blocks[rank]);
            bc_amount_destroy(&operation->own_blocks[rank]);
        }
    free(operation->starts);
    free(operation->amounts);
    free(operation->displacements);
    free(operation->own_amounts);
    free(operation->own_displacements);
    free(operation->blocks);
    free(operation->own_blocks);
    free(operation->types);
    free(operation->own_types);
    free(operation->large_amounts);
    free(operation->large_own_amounts);
    free(operation->large_displacements);
    free(operation->large_own_displacements);
}

static void make_grid(struct overlap_operation *operation)
{
    enum { DIMENSIONS = 3 };
    int sizes[DIMENSIONS] = {0, 0, 0};
    const int periodic[DIMENSIONS] = {1, 1, 1};
    BC_MPI(MPI_Dims_create(operation->shape.ranks, DIMENSIONS, sizes));
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, sizes, periodic, 0, &operation->comm));
    int *neighbour = operation->neighbours;
    for (int direction = 0; direction < DIMENSIONS; direction++, neighbour += 2)
        BC_MPI(MPI_Cart_shift(operation->comm, direction, 1, &neighbour[0], &neighbour[1]));
}

void overlap_operation_create(struct overlap_operation *operation,
                              const struct overlap_collective *collective, int root,
                              int64_t elements)
{
    *operation = (struct overlap_operation){
        .collective = collective,
        .shape = {.root = root, .elements = elements},
        .comm = MPI_COMM_WORLD,
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
    const int64_t count = operation->collective->receive_elements(&operation->shape);
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
    free_amounts(operation);
}
