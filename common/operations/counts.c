#include "common/operations/operation.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include <limits.h>
#include <stdlib.h>

/* In w variants displacements are in bytes. */
static int64_t displacement_unit(const struct op_kind *kind, enum op_type type)
{
    return kind->layout == OP_VARYING_BYTES ? op_type_bytes(type) : 1;
}

/* Blocks have int counts and displacements, and libraries add all of them up in an int. */
enum op_passing op_passing_of(const struct op_kind *kind, const struct op_shape *shape)
{
    const double largest =
        (double)displacement_unit(kind, shape->type) * op_max_elements(kind, shape, false);
    if (shape->elements > INT_MAX / op_type_bytes(shape->type) &&
        op_is_library(kind->fails_large_in))
        return OP_BEYOND;
    if (shape->elements <= BC_COUNT_MAX && largest <= (double)BC_COUNT_MAX)
        return OP_AS_INTS;
    if (kind->layout == OP_EQUAL || kind->layout == OP_VARYING_BYTES)
        return OP_AS_TYPES;
    return kind->large.start != NULL ? OP_AS_LARGE : OP_BEYOND;
}

static void *allocate(int ranks, size_t size)
{
    return bc_allocate((size_t)ranks, size, "no memory for the counts of %d ranks", ranks);
}

static int64_t amount_of(const struct op_instance *operation, int rank)
{
    return op_blocks_vary(operation->kind) ? op_amount(&operation->shape, rank)
                                           : operation->shape.elements;
}

/* Makes block `rank` of these, of `amount` elements from `start` on. */
static void set_block(const struct op_instance *operation, enum op_passing passing,
                      const struct op_blocks *blocks, int rank, int64_t amount, int64_t start)
{
    const int64_t unit = displacement_unit(operation->kind, operation->shape.type);
    const int64_t displacement = start * unit;
    struct bc_amount typed = {.type = operation->type};
    blocks->types[rank] = operation->type;
    if (passing == OP_AS_INTS) {
        ((int *)blocks->amounts)[rank] = (int)amount;
        ((int *)blocks->displacements)[rank] = (int)displacement;
    } else if (passing == OP_AS_LARGE) {
        ((MPI_Count *)blocks->amounts)[rank] = (MPI_Count)amount;
        ((MPI_Aint *)blocks->displacements)[rank] = (MPI_Aint)displacement;
    } else {
        bc_amount_create_at(&typed, amount, operation->type, (MPI_Aint)displacement);
        ((int *)blocks->amounts)[rank] = typed.count;
        blocks->types[rank] = typed.type;
    }
}

/* Blocks of each rank's amount or, if `own`, all of this rank's. */
static void make_blocks(const struct op_instance *operation, enum op_passing passing, bool own,
                        struct op_blocks *blocks)
{
    const struct op_shape *const shape = &operation->shape;
    const bool varies = op_blocks_vary(operation->kind);
    int64_t start = 0;
    *blocks = (struct op_blocks){
        .amounts = allocate(shape->ranks, sizeof(MPI_Count)),
        .displacements = allocate(shape->ranks, sizeof(MPI_Aint)),
        .types = allocate(shape->ranks, sizeof *blocks->types),
    };
    for (int rank = 0; rank < shape->ranks; rank++) {
        const int64_t amount = amount_of(operation, own ? shape->rank : rank);
        set_block(operation, passing, blocks, rank, amount, start);
        if (!own && varies)
            operation->counts.starts[rank] = start;
        if (varies)
            start += amount;
    }
}

static void free_type(const struct op_instance *operation, MPI_Datatype type)
{
    if (type != operation->type)
        BC_MPI(MPI_Type_free(&type));
}

static void free_blocks(const struct op_instance *operation, struct op_blocks *blocks)
{
    for (int rank = 0; blocks->types != NULL && rank < operation->shape.ranks; rank++)
        free_type(operation, blocks->types[rank]);
    free(blocks->amounts);
    free(blocks->displacements);
    free(blocks->types);
}

void op_counts_create(struct op_instance *operation, enum op_passing passing)
{
    const struct op_kind *const kind = operation->kind;
    const struct op_shape *const shape = &operation->shape;
    struct op_counts *const counts = &operation->counts;
    counts->count = amount_of(operation, shape->rank);
    counts->type = operation->type;
    if (passing == OP_AS_TYPES) {
        struct bc_amount typed;
        bc_amount_create_at(&typed, counts->count, operation->type, 0);
        counts->count = typed.count;
        counts->type = typed.type;
    }
    if (op_blocks_vary(kind))
        counts->starts = allocate(shape->ranks, sizeof *counts->starts);
    if (kind->layout != OP_EQUAL)
        make_blocks(operation, passing, false, &counts->by_rank);
    if (kind->send.extent == OP_OWN_AMOUNT_PER_RANK)
        make_blocks(operation, passing, true, &counts->own);
}

void op_counts_destroy(struct op_instance *operation)
{
    struct op_counts *const counts = &operation->counts;
    free_type(operation, counts->type);
    free_blocks(operation, &counts->by_rank);
    free_blocks(operation, &counts->own);
    free(counts->starts);
}
