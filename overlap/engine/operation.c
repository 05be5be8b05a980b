#include "overlap/engine/operation.h"

#include "common/machine/memory.h"
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

/* The elements of each buffer on the rank that needs most. */
struct need {
    double send, receive, both;
};

/* Rooted operations need most on the root, varying ones on the last rank; rank 0 stands for all
   others. */
static struct need max_need(const struct overlap_collective *collective, struct overlap_shape shape)
{
    const int ranks[] = {shape.root, 0, shape.ranks - 1};
    struct need max = {0.0, 0.0, 0.0};
    if (collective->send_elements == NULL)
        return max;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        shape.rank = ranks[i];
        const double send = (double)collective->send_elements(&shape);
        const double receive = (double)collective->receive_elements(&shape);
        max.send = fmax(max.send, send);
        max.receive = fmax(max.receive, receive);
        max.both = fmax(max.both, send + receive);
    }
    return max;
}

double overlap_bytes(const struct overlap_collective *collective, const struct overlap_shape *shape)
{
    return (double)sizeof(double) * max_need(collective, *shape).both;
}

bool overlap_fits_int(const struct overlap_collective *collective,
                      const struct overlap_shape *shape)
{
    /* Blocks have int counts and displacements; and libraries count all blocks of an operation
       together in an int. */
    if (shape->elements > BC_COUNT_MAX)
        return false;
    const struct need max = max_need(collective, *shape);
    return (double)displacement_unit(collective) * fmax(max.send, max.receive) <=
           (double)BC_COUNT_MAX;
}

/* Whether amounts beyond ints need post_large. */
static bool needs_large(const struct overlap_collective *collective)
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
    return overlap_fits_int(collective, shape) || !needs_large(collective) ||
           collective->post_large != NULL;
}

static void *allocate(int64_t count, size_t size)
{
    return bc_allocate((size_t)count, size, "no memory for a buffer of %lld elements",
                       (long long)count);
}

static double *allocate_doubles(int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    return bc_allocate_pages(bytes, "no memory for a buffer of %zu bytes", bytes);
}

/* ---- the blocks ------------------------------------------------------------------------------ */

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

/* Whether this rank sends a block of its own amount to each rank. Only then does its send buffer
   have room for these, and the call take their amounts and displacements. */
static bool sends_blocks_to_each(const struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    return operation->collective->send_elements(shape) ==
           shape->ranks * amount_of(operation, shape->rank);
}

/* A block's amount, and where it starts, in elements. */
struct place {
    int64_t amount, start;
};

/* Of a rank's block in operation->own or operation->by_rank. */
static struct place place_of(const struct overlap_operation *operation, bool own, int rank)
{
    const int64_t own_amount = amount_of(operation, operation->shape.rank);
    if (own)
        return (struct place){own_amount, rank * own_amount};
    const int64_t start = operation->starts != NULL ? operation->starts[rank] : 0;
    return (struct place){amount_of(operation, rank), start};
}

/* As ints. */
static void fill_counts(const struct overlap_operation *operation, bool own,
                        struct overlap_blocks *blocks)
{
    const int64_t unit = displacement_unit(operation->collective);
    for (int rank = 0; rank < operation->shape.ranks; rank++) {
        const struct place place = place_of(operation, own, rank);
        blocks->amounts[rank] = bc_as_count(place.amount);
        blocks->displacements[rank] = bc_as_count(place.start * unit);
    }
}

/* As datatypes, of which there is one element each. */
static void fill_made(const struct overlap_operation *operation, bool own,
                      struct overlap_blocks *blocks)
{
    const int ranks = operation->shape.ranks;
    blocks->made = allocate(ranks, sizeof *blocks->made);
    for (int rank = 0; rank < ranks; rank++) {
        const struct place place = place_of(operation, own, rank);
        bc_amount_create_at(&blocks->made[rank], place.amount, MPI_DOUBLE,
                            place.start * (MPI_Aint)sizeof(double));
        blocks->amounts[rank] = blocks->made[rank].count;
    }
}

/* As MPI-4's large counts. */
static void make_large(const struct overlap_operation *operation, bool own,
                       struct overlap_blocks *blocks)
{
    const int ranks = operation->shape.ranks;
    blocks->large_amounts = allocate(ranks, sizeof *blocks->large_amounts);
    blocks->large_displacements = allocate(ranks, sizeof *blocks->large_displacements);
    for (int rank = 0; rank < ranks; rank++) {
        const struct place place = place_of(operation, own, rank);
        blocks->large_amounts[rank] = (MPI_Count)place.amount;
        blocks->large_displacements[rank] = (MPI_Aint)place.start;
    }
}

static void make_blocks(const struct overlap_operation *operation, bool own,
                        struct overlap_blocks *blocks)
{
    const struct overlap_collective *const collective = operation->collective;
    const int ranks = operation->shape.ranks;
    const bool fits = overlap_fits_int(collective, &operation->shape);
    if (!fits && needs_large(collective)) {
        make_large(operation, own, blocks);
        return;
    }
    blocks->amounts = allocate(ranks, sizeof *blocks->amounts);
    blocks->displacements = allocate(ranks, sizeof *blocks->displacements);
    if (fits)
        fill_counts(operation, own, blocks);
    if (collective->layout != OVERLAP_VARYING_BYTES)
        return;
    if (!fits)
        fill_made(operation, own, blocks);
    blocks->types = allocate(ranks, sizeof *blocks->types);
    for (int rank = 0; rank < ranks; rank++)
        blocks->types[rank] = fits ? MPI_DOUBLE : blocks->made[rank].type;
}

static void free_blocks(struct overlap_blocks *blocks, int ranks)
{
    for (int rank = 0; blocks->made != NULL && rank < ranks; rank++)
        bc_amount_destroy(&blocks->made[rank]);
    free(blocks->amounts);
    free(blocks->displacements);
    free(blocks->types);
    free(blocks->made);
    free(blocks->large_amounts);
    free(blocks->large_displacements);
}

/* How the amounts are passed: see overlap_layout. */
static void make_amounts(struct overlap_operation *operation)
{
    const struct overlap_collective *const collective = operation->collective;
    const int64_t elements = operation->shape.elements;
    const bool fits = overlap_fits_int(collective, &operation->shape);
    const bool large = !fits && needs_large(collective);
    operation->post = large ? collective->post_large : collective->post;
    if (has_starts(collective))
        make_starts(operation);
    if (fits)
        bc_amount_create(&operation->block, elements, MPI_DOUBLE);
    else if (!large)
        bc_amount_create_at(&operation->block, elements, MPI_DOUBLE, 0);
    make_blocks(operation, false, &operation->by_rank);
    if (has_starts(collective) && sends_blocks_to_each(operation))
        make_blocks(operation, true, &operation->own);
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
    bc_amount_destroy(&operation->block);
    free_blocks(&operation->by_rank, operation->shape.ranks);
    free_blocks(&operation->own, operation->shape.ranks);
    free(operation->starts);
}
