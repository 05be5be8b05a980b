/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/operations/counts.h"

#include "common/memory/allocate.h"
#include "common/mpi/large_count.h"
#include "common/mpi/mpi_check.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Returns the elements of both buffers, or else of the larger one, on the rank that needs most: the
   root, in varying operations the last rank, in others any rank. */
static double max_elements(const struct op_kind *kind, const struct op_shape *shape, bool both)
{
    const int ranks[] = {shape->root, 0, shape->ranks - 1};
    struct op_shape on = *shape;
    double max = 0.0;
    for (int i = 0; i < 3 && kind->send.extent != OP_NO_BUFFER; i++) {
        on.rank = ranks[i];
        const double send = (double)op_elements(&kind->send, &on);
        const double receive = (double)op_elements(&kind->receive, &on);
        max = fmax(max, both ? send + receive : fmax(send, receive));
    }
    return max;
}

double op_bytes(const struct op_kind *kind, const struct op_shape *shape)
{
    return (double)op_type_bytes(shape->type) * max_elements(kind, shape, true);
}

double op_size_bytes(const struct op_kind *kind, const struct op_shape *shape)
{
    const double bytes = (double)op_type_bytes(shape->type);
    return op_blocks_vary(kind) ? bytes * (double)op_all_amounts(shape) / shape->ranks
                                : bytes * (double)shape->elements;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* In w variants displacements are in bytes. */
static int64_t displacement_unit(const struct op_kind *kind, enum op_type type)
{
    return kind->layout == OP_VARYING_BYTES ? op_type_bytes(type) : 1;
}

/* Blocks have int counts and displacements, and libraries add all of them up in an int. */
enum op_passing op_passing_of(const struct op_kind *kind, const struct op_shape *shape)
{
    const double largest =
        (double)displacement_unit(kind, shape->type) * max_elements(kind, shape, false);
    if (shape->elements > INT_MAX / op_type_bytes(shape->type) &&
        op_is_broken(kind, OP_LARGE_BLOCKS))
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

static int64_t amount_of(const struct op_kind *kind, const struct op_shape *shape, int rank)
{
    return op_blocks_vary(kind) ? op_amount(shape, rank) : shape->elements;
}

static void set_block(const struct op_blocks *blocks, enum op_passing passing, int rank,
                      MPI_Datatype element, int64_t amount, int64_t displacement)
{
    struct bc_amount typed = {.type = element};
    blocks->types[rank] = element;
    if (passing == OP_AS_INTS) {
        ((int *)blocks->amounts)[rank] = (int)amount;
        ((int *)blocks->displacements)[rank] = (int)displacement;
    } else if (passing == OP_AS_LARGE) {
        ((MPI_Count *)blocks->amounts)[rank] = (MPI_Count)amount;
        ((MPI_Aint *)blocks->displacements)[rank] = (MPI_Aint)displacement;
    } else {
        bc_amount_create_at(&typed, amount, element, (MPI_Aint)displacement);
        ((int *)blocks->amounts)[rank] = typed.count;
        blocks->types[rank] = typed.type;
    }
}

/* Makes blocks of each rank's amount, or only of this rank's amount if `own`. Fills `starts` unless
   it is NULL. */
static void make_blocks(struct op_blocks *blocks, const struct op_kind *kind,
                        const struct op_shape *shape, MPI_Datatype element, enum op_passing passing,
                        bool own, int64_t *starts)
{
    const bool varies = op_blocks_vary(kind);
    int64_t start = 0;
    *blocks = (struct op_blocks){
        .amounts = allocate(shape->ranks, sizeof(MPI_Count)),
        .displacements = allocate(shape->ranks, sizeof(MPI_Aint)),
        .types = allocate(shape->ranks, sizeof *blocks->types),
    };
    for (int rank = 0; rank < shape->ranks; rank++) {
        const int64_t amount = amount_of(kind, shape, own ? shape->rank : rank);
        set_block(blocks, passing, rank, element, amount,
                  start * displacement_unit(kind, shape->type));
        if (starts != NULL)
            starts[rank] = start;
        if (varies)
            start += amount;
    }
}

static void free_type(const struct op_counts *counts, MPI_Datatype type)
{
    if (type != counts->element)
        BC_MPI(MPI_Type_free(&type));
}

static void free_blocks(const struct op_counts *counts, struct op_blocks *blocks, int ranks)
{
    for (int rank = 0; blocks->types != NULL && rank < ranks; rank++)
        free_type(counts, blocks->types[rank]);
    free(blocks->amounts);
    free(blocks->displacements);
    free(blocks->types);
}

void op_counts_create(struct op_counts *counts, const struct op_kind *kind,
                      const struct op_shape *shape, MPI_Datatype element, enum op_passing passing)
{
    *counts = (struct op_counts){
        .count = amount_of(kind, shape, shape->rank), .type = element, .element = element};
    if (passing == OP_AS_TYPES) {
        struct bc_amount typed;
        bc_amount_create_at(&typed, counts->count, element, 0);
        counts->count = typed.count;
        counts->type = typed.type;
    }
    if (op_blocks_vary(kind))
        counts->starts = allocate(shape->ranks, sizeof *counts->starts);
    if (kind->layout != OP_EQUAL)
        make_blocks(&counts->by_rank, kind, shape, element, passing, false, counts->starts);
    if (kind->send.extent == OP_OWN_AMOUNT_PER_RANK)
        make_blocks(&counts->own, kind, shape, element, passing, true, NULL);
}

void op_counts_destroy(struct op_counts *counts, int ranks)
{
    free_type(counts, counts->type);
    free_blocks(counts, &counts->by_rank, ranks);
    free_blocks(counts, &counts->own, ranks);
    free(counts->starts);
}
