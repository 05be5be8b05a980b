/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/guidelines.h"

#include "common/memory/allocate.h"
#include "common/memory/buffer.h"
#include "common/mpi/mpi_check.h"
#include "common/operations/collectives.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- other calls ----------------------------------------------------------------------------- */

/* Memory of an alternative that calls other collectives. */
struct extra {
    struct bc_buffer scratch;
    int *counts, *displacements; /* of a block per rank, or of the parts of a block */
    bool divides_evenly;         /* equal counts */
    int count;                   /* of this rank */
};

static const struct extra *extra_of(const struct op_instance *operation) { return operation->own; }

static void *scratch_of(const struct op_instance *operation)
{
    return extra_of(operation)->scratch.start;
}

/* Returns the address of this rank's block or part in a buffer. */
static void *own_place(const struct op_instance *operation, void *buffer)
{
    const size_t bytes = (size_t)op_type_bytes(operation->shape.type);
    return (char *)buffer +
           (size_t)extra_of(operation)->displacements[operation->shape.rank] * bytes;
}

static size_t block_bytes(const struct op_instance *operation)
{
    return (size_t)(operation->shape.elements * op_type_bytes(operation->shape.type));
}

static int count_of(const struct op_instance *o) { return (int)o->shape.elements; }

static bool is_root(const struct op_instance *o) { return o->shape.rank == o->shape.root; }

static void allgather_by_gather(struct op_instance *o)
{
    const int count = count_of(o);
    BC_MPI(MPI_Gather(o->send, count, o->type, o->receive, count, o->type, 0, o->comm));
    BC_MPI(MPI_Bcast(o->receive, count * o->shape.ranks, o->type, 0, o->comm));
}

static void alltoall_by_v(struct op_instance *o)
{
    const struct extra *const extra = extra_of(o);
    BC_MPI(MPI_Alltoallv(o->send, extra->counts, extra->displacements, o->type, o->receive,
                         extra->counts, extra->displacements, o->type, o->comm));
}

static void allreduce_by_reduce(struct op_instance *o)
{
    BC_MPI(MPI_Reduce(o->send, o->receive, count_of(o), o->type, o->op, 0, o->comm));
    BC_MPI(MPI_Bcast(o->receive, count_of(o), o->type, 0, o->comm));
}

/* Gives all ranks the parts that each has in its place. */
static void gather_parts(const struct op_instance *o, void *buffer)
{
    const struct extra *const extra = extra_of(o);
    if (extra->divides_evenly)
        BC_MPI(MPI_Allgather(MPI_IN_PLACE, 0, o->type, buffer, extra->count, o->type, o->comm));
    else
        BC_MPI(MPI_Allgatherv(MPI_IN_PLACE, 0, o->type, buffer, extra->counts, extra->displacements,
                              o->type, o->comm));
}

static void allreduce_by_reduce_scatter(struct op_instance *o)
{
    const struct extra *const extra = extra_of(o);
    void *const part = own_place(o, o->receive);
    if (extra->divides_evenly)
        BC_MPI(MPI_Reduce_scatter_block(o->send, part, extra->count, o->type, o->op, o->comm));
    else
        BC_MPI(MPI_Reduce_scatter(o->send, part, extra->counts, o->type, o->op, o->comm));
    gather_parts(o, o->receive);
}

static void bcast_by_scatter(struct op_instance *o)
{
    const struct extra *const extra = extra_of(o);
    const int root = o->shape.root;
    void *const buffer = is_root(o) ? o->send : o->receive;
    void *const part = is_root(o) ? MPI_IN_PLACE : own_place(o, buffer);
    if (extra->divides_evenly)
        BC_MPI(
            MPI_Scatter(buffer, extra->count, o->type, part, extra->count, o->type, root, o->comm));
    else
        BC_MPI(MPI_Scatterv(buffer, extra->counts, extra->displacements, o->type, part,
                            extra->count, o->type, root, o->comm));
    gather_parts(o, buffer);
}

static void gather_by_v(struct op_instance *o)
{
    const struct extra *const extra = extra_of(o);
    BC_MPI(MPI_Gatherv(o->send, count_of(o), o->type, o->receive, extra->counts,
                       extra->displacements, o->type, o->shape.root, o->comm));
}

static void gather_by_allgather(struct op_instance *o)
{
    void *const received = is_root(o) ? o->receive : scratch_of(o);
    BC_MPI(MPI_Allgather(o->send, count_of(o), o->type, received, count_of(o), o->type, o->comm));
}

static void reduce_by_allreduce(struct op_instance *o)
{
    void *const received = is_root(o) ? o->receive : scratch_of(o);
    BC_MPI(MPI_Allreduce(o->send, received, count_of(o), o->type, o->op, o->comm));
}

static void reduce_scatter_by_reduce(struct op_instance *o)
{
    const int count = count_of(o);
    void *const sums = scratch_of(o);
    BC_MPI(MPI_Reduce(o->send, sums, count * o->shape.ranks, o->type, o->op, 0, o->comm));
    BC_MPI(MPI_Scatter(sums, count, o->type, o->receive, count, o->type, 0, o->comm));
}

static void reduce_scatter_by_allreduce(struct op_instance *o)
{
    void *const sums = scratch_of(o);
    BC_MPI(MPI_Allreduce(o->send, sums, count_of(o) * o->shape.ranks, o->type, o->op, o->comm));
    memcpy(o->receive, own_place(o, sums), block_bytes(o));
}

static void scan_by_exscan(struct op_instance *o)
{
    BC_MPI(MPI_Exscan(o->send, o->receive, count_of(o), o->type, o->op, o->comm));
    if (o->shape.rank > 0)
        BC_MPI(MPI_Reduce_local(o->send, o->receive, count_of(o), o->type, o->op));
    else
        memcpy(o->receive, o->send, block_bytes(o));
}

static void scatter_by_v(struct op_instance *o)
{
    const struct extra *const extra = extra_of(o);
    BC_MPI(MPI_Scatterv(o->send, extra->counts, extra->displacements, o->type, o->receive,
                        count_of(o), o->type, o->shape.root, o->comm));
}

static void scatter_by_bcast(struct op_instance *o)
{
    void *const buffer = is_root(o) ? o->send : scratch_of(o);
    BC_MPI(MPI_Bcast(buffer, count_of(o) * o->shape.ranks, o->type, o->shape.root, o->comm));
    memcpy(o->receive, own_place(o, buffer), block_bytes(o));
}

/* ---- the guidelines -------------------------------------------------------------------------- */

#define CALL(its_of, its_call, its_alternative, ...)                                               \
    {                                                                                              \
        .alternative = (its_alternative), .of = &op_##its_of, .call = (its_call), __VA_ARGS__      \
    }

static const struct collective_guideline guidelines[] = {
    {.alternative = "two halves", .alternative_kind = COLLECTIVE_HALVES},
    {.alternative = "twice the data", .alternative_kind = COLLECTIVE_DOUBLE},
    CALL(allgather, allgather_by_gather, "gather+bcast"),
    CALL(allreduce, allreduce_by_reduce, "reduce+bcast"),
    CALL(allreduce, allreduce_by_reduce_scatter, "reduce_scatter+allgather", .divides = true),
    CALL(alltoall, alltoall_by_v, "alltoallv"),
    CALL(bcast, bcast_by_scatter, "scatter+allgather", .divides = true),
    CALL(gather, gather_by_allgather, "allgather", .scratch = OP_BLOCK_PER_RANK),
    CALL(gather, gather_by_v, "gatherv"),
    CALL(reduce, reduce_by_allreduce, "allreduce", .scratch = OP_BLOCK),
    CALL(reduce_scatter, reduce_scatter_by_allreduce, "allreduce", .scratch = OP_BLOCK_PER_RANK),
    CALL(reduce_scatter, reduce_scatter_by_reduce, "reduce+scatter", .scratch = OP_BLOCK_PER_RANK),
    CALL(reduce_scatter_block, reduce_scatter_by_allreduce, "allreduce",
         .scratch = OP_BLOCK_PER_RANK),
    CALL(reduce_scatter_block, reduce_scatter_by_reduce, "reduce+scatter",
         .scratch = OP_BLOCK_PER_RANK),
    CALL(scan, scan_by_exscan, "exscan+reduce_local"),
    CALL(scatter, scatter_by_bcast, "bcast", .scratch = OP_BLOCK_PER_RANK),
    CALL(scatter, scatter_by_v, "scatterv"),
};

enum { GUIDELINES = sizeof guidelines / sizeof *guidelines };

static bool has_guideline(const struct op_kind *kind, const struct op_shape *shape,
                          const struct collective_guideline *guideline)
{
    if (guideline->alternative_kind == COLLECTIVE_HALVES)
        return !kind->no_elements && shape->elements > 1;
    if (guideline->alternative_kind == COLLECTIVE_DOUBLE)
        return !kind->no_elements;
    /* Other calls take ints. */
    return guideline->of == kind && shape->elements <= INT_MAX / shape->ranks;
}

const struct collective_guideline *collective_guideline_at(const struct op_kind *kind,
                                                           const struct op_shape *shape, int i)
{
    for (int g = 0; g < GUIDELINES; g++)
        if (has_guideline(kind, shape, &guidelines[g]) && i-- == 0)
            return &guidelines[g];
    return NULL;
}

/* ---- an alternative -------------------------------------------------------------------------- */

static const char no_memory[] = "no memory for an alternative";

static void create_extra(struct op_instance *operation,
                         const struct collective_guideline *guideline)
{
    const struct op_shape *const shape = &operation->shape;
    const struct op_buffer scratch = {.extent = guideline->scratch, .holders = OP_ON_ALL};
    struct extra *const extra = bc_allocate(1, sizeof *extra, no_memory);
    extra->counts = bc_allocate((size_t)shape->ranks, sizeof *extra->counts, no_memory);
    extra->displacements = bc_allocate((size_t)shape->ranks, sizeof *extra->counts, no_memory);
    const int64_t rest = guideline->divides ? shape->elements % shape->ranks : 0;
    int64_t start = 0;
    for (int rank = 0; rank < shape->ranks; rank++) {
        const int64_t count =
            guideline->divides ? shape->elements / shape->ranks + (rank < rest) : shape->elements;
        extra->counts[rank] = (int)count;
        extra->displacements[rank] = (int)start;
        start += count;
    }
    extra->divides_evenly = rest == 0;
    extra->count = extra->counts[shape->rank];
    bc_buffer_create(&extra->scratch, NULL, BC_MEMORY_HOST,
                     (size_t)(op_elements(&scratch, shape) * op_type_bytes(shape->type)), false,
                     "smaller --sizes");
    operation->own = extra;
}

static void destroy_extra(struct op_instance *operation)
{
    struct extra *const extra = operation->own;
    bc_buffer_destroy(&extra->scratch);
    free(extra->displacements);
    free(extra->counts);
    free(extra);
}

void collective_alternative_create(struct collective_alternative *alternative,
                                   const struct collective_guideline *guideline,
                                   const struct op_kind *kind, const struct bc_job *job,
                                   const struct op_choice *choice)
{
    struct op_choice part = *choice;
    alternative->guideline = guideline;
    alternative->kind = *kind;
    alternative->count = 1;
    if (guideline->alternative_kind == COLLECTIVE_DOUBLE) {
        part.elements = 2 * choice->elements;
    } else if (guideline->alternative_kind == COLLECTIVE_HALVES) {
        part.elements = choice->elements / 2;
        alternative->count = 2;
    } else {
        alternative->kind.functions.blocking = guideline->call;
    }
    op_create(&alternative->parts[0], &alternative->kind, job, &part);
    part.elements = choice->elements - part.elements;
    if (alternative->count == 2)
        op_create(&alternative->parts[1], &alternative->kind, job, &part);
    if (guideline->alternative_kind == COLLECTIVE_OTHER_CALLS)
        create_extra(&alternative->parts[0], guideline);
}

void collective_alternative_destroy(struct collective_alternative *alternative)
{
    if (alternative->guideline->alternative_kind == COLLECTIVE_OTHER_CALLS)
        destroy_extra(&alternative->parts[0]);
    for (int i = 0; i < alternative->count; i++)
        op_destroy(&alternative->parts[i]);
}
