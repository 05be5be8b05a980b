#include "overlap/engine/counts.h"

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

bool overlap_varies(const struct overlap_kind *kind)
{
    return kind->layout == OVERLAP_VARYING || kind->layout == OVERLAP_VARYING_BYTES;
}

/* In w variants displacements are in bytes. */
static int64_t displacement_unit(const struct overlap_kind *kind)
{
    return kind->layout == OVERLAP_VARYING_BYTES ? (int64_t)sizeof(double) : 1;
}

int overlap_owner(const struct overlap_operation *operation, int64_t i)
{
    if (!overlap_varies(operation->kind)) {
        const int block = (int)(i / operation->shape.elements);
        return operation->kind->on_grid ? operation->neighbours[block] : block;
    }
    /* The last rank whose block starts at or before i. */
    int first = 0, last = operation->shape.ranks - 1;
    while (first < last) {
        const int middle = first + (last - first + 1) / 2;
        if (operation->large_counts.by_rank.displacements[middle] <= i)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

int64_t overlap_index(const struct overlap_operation *operation, int64_t i)
{
    if (!overlap_varies(operation->kind))
        return i % operation->shape.elements;
    return i - operation->large_counts.by_rank.displacements[overlap_owner(operation, i)];
}

/* The elements of a buffer, and of both, on the rank that needs most. */
struct need {
    double either, both;
};

/* Rooted operations need most on the root, varying ones on the last rank; else rank 0 will do. */
static struct need max_need(const struct overlap_kind *kind, struct overlap_shape shape)
{
    const int ranks[] = {shape.root, 0, shape.ranks - 1};
    struct need max = {0.0, 0.0};
    if (kind->send.elements == NULL)
        return max;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        shape.rank = ranks[i];
        const double send = (double)kind->send.elements(&shape);
        const double receive = (double)kind->receive.elements(&shape);
        max.either = fmax(max.either, fmax(send, receive));
        max.both = fmax(max.both, send + receive);
    }
    return max;
}

double overlap_bytes(const struct overlap_kind *kind, const struct overlap_shape *shape)
{
    return (double)sizeof(double) * max_need(kind, *shape).both;
}

/* Blocks have int counts and displacements, and libraries add all of them up in an int. */
bool overlap_fits_int(const struct overlap_kind *kind, const struct overlap_shape *shape)
{
    const double unit = (double)displacement_unit(kind);
    return shape->elements <= BC_COUNT_MAX &&
           unit * max_need(kind, *shape).either <= (double)BC_COUNT_MAX;
}

/* Whether amounts beyond ints need functions with large counts. */
static bool needs_large(const struct overlap_kind *kind)
{
    return kind->layout == OVERLAP_REDUCED || kind->layout == OVERLAP_VARYING;
}

bool overlap_is_library(const char *begin)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (begin == NULL)
        return false;
    BC_MPI(MPI_Get_library_version(version, &length));
    return strncmp(version, begin, strlen(begin)) == 0;
}

/* Whether this library fails with blocks of this size. */
static bool fails_large(const struct overlap_kind *kind, const struct overlap_shape *shape)
{
    return shape->elements > INT_MAX / (int64_t)sizeof(double) &&
           overlap_is_library(kind->fails_large_in);
}

bool overlap_can_start(const struct overlap_kind *kind, const struct overlap_shape *shape)
{
    if (fails_large(kind, shape))
        return false;
    return overlap_fits_int(kind, shape) || !needs_large(kind) || kind->large.start != NULL;
}

/* ---- what calls count with ------------------------------------------------------------------- */

static void *allocate(int64_t count, size_t size)
{
    return bc_allocate((size_t)count, size, "no memory for a buffer of %lld elements",
                       (long long)count);
}

/* Rank r's amount, by the collective's layout. */
static int64_t amount_of(const struct overlap_operation *operation, int rank)
{
    return overlap_varies(operation->kind) ? overlap_amount(&operation->shape, rank)
                                           : operation->shape.elements;
}

/* Whether this rank sends a block of its own amount to each rank. Only then does its send buffer
   have room for these, and the call take their amounts and displacements. */
static bool sends_blocks_to_each(const struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    return overlap_varies(operation->kind) && operation->kind->send.elements(shape) ==
                                                  shape->ranks * amount_of(operation, shape->rank);
}

/* Blocks of this rank's `own` amount, or of each rank's. */
static void make_large_blocks(const struct overlap_operation *operation, bool own,
                              struct overlap_large_blocks *blocks)
{
    const struct overlap_shape *const shape = &operation->shape;
    blocks->amounts = allocate(shape->ranks, sizeof *blocks->amounts);
    blocks->displacements = allocate(shape->ranks, sizeof *blocks->displacements);
    MPI_Aint start = 0;
    for (int rank = 0; rank < shape->ranks; rank++) {
        blocks->amounts[rank] = amount_of(operation, own ? shape->rank : rank);
        blocks->displacements[rank] = start;
        if (overlap_varies(operation->kind))
            start += (MPI_Aint)blocks->amounts[rank];
    }
}

/* The same blocks as ints, or in w variants where ints can't hold them as datatypes. */
static void make_blocks(const struct overlap_operation *operation, bool fits,
                        const struct overlap_large_blocks *large, struct overlap_blocks *blocks)
{
    const bool in_bytes = operation->kind->layout == OVERLAP_VARYING_BYTES;
    const int64_t unit = displacement_unit(operation->kind);
    const int ranks = operation->shape.ranks;
    blocks->amounts = allocate(ranks, sizeof *blocks->amounts);
    blocks->displacements = allocate(ranks, sizeof *blocks->displacements);
    if (in_bytes)
        blocks->types = allocate(ranks, sizeof *blocks->types);
    for (int rank = 0; rank < ranks; rank++) {
        struct bc_amount amount = {.type = MPI_DOUBLE};
        if (fits) {
            amount.count = bc_as_count(large->amounts[rank]);
            blocks->displacements[rank] = bc_as_count(large->displacements[rank] * unit);
        } else if (in_bytes) {
            bc_amount_create_at(&amount, large->amounts[rank], MPI_DOUBLE,
                                large->displacements[rank] * (MPI_Aint)sizeof(double));
        }
        blocks->amounts[rank] = amount.count;
        if (in_bytes)
            blocks->types[rank] = amount.type;
    }
}

static void free_type(MPI_Datatype type)
{
    if (type != MPI_DOUBLE)
        BC_MPI(MPI_Type_free(&type));
}

static void free_blocks(struct overlap_blocks *blocks, struct overlap_large_blocks *large,
                        int ranks)
{
    for (int rank = 0; blocks->types != NULL && rank < ranks; rank++)
        free_type(blocks->types[rank]);
    free(blocks->amounts);
    free(blocks->displacements);
    free(blocks->types);
    free(large->amounts);
    free(large->displacements);
}

/* How the amounts are passed: see overlap_layout. */
void overlap_counts_create(struct overlap_operation *operation)
{
    const struct overlap_kind *const kind = operation->kind;
    struct overlap_counts *const counts = &operation->counts;
    struct overlap_large_counts *const large_counts = &operation->large_counts;
    const bool fits = overlap_fits_int(kind, &operation->shape);
    const bool large = !fits && needs_large(kind);
    const bool own = sends_blocks_to_each(operation);
    operation->chosen = large ? kind->large : kind->functions;
    counts->type = MPI_DOUBLE;
    large_counts->count = (MPI_Count)operation->shape.elements;
    if (kind->layout != OVERLAP_EQUAL)
        make_large_blocks(operation, false, &large_counts->by_rank);
    if (own)
        make_large_blocks(operation, true, &large_counts->own);
    if (large)
        return;
    struct bc_amount amount;
    if (fits)
        bc_amount_create(&amount, operation->shape.elements, MPI_DOUBLE);
    else
        bc_amount_create_at(&amount, operation->shape.elements, MPI_DOUBLE, 0);
    counts->count = amount.count;
    counts->type = amount.type;
    if (kind->layout != OVERLAP_EQUAL)
        make_blocks(operation, fits, &large_counts->by_rank, &counts->by_rank);
    if (own)
        make_blocks(operation, fits, &large_counts->own, &counts->own);
}

void overlap_counts_destroy(struct overlap_operation *operation)
{
    const int ranks = operation->shape.ranks;
    free_type(operation->counts.type);
    free_blocks(&operation->counts.by_rank, &operation->large_counts.by_rank, ranks);
    free_blocks(&operation->counts.own, &operation->large_counts.own, ranks);
}
