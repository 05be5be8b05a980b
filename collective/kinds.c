/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective.h"

#include <math.h>

static const struct op_kind *const kinds[COLLECTIVE_KINDS] = {
    &op_allgather,
    &op_allgatherv,
    &op_allreduce,
    &op_alltoall,
    &op_alltoallv,
    &op_alltoallw,
    &op_barrier,
    &op_bcast,
    &op_exscan,
    &op_gather,
    &op_gatherv,
#if COMMCOST_NEIGHBOR_COLLECTIVES
    &op_neighbor_allgather,
    &op_neighbor_alltoall,
#endif
    &op_reduce,
    &op_reduce_scatter,
    &op_reduce_scatter_block,
    &op_scan,
    &op_scatter,
    &op_scatterv,
};

const struct op_kind *collective_kind(int i) { return kinds[i]; }

const char *collective_kind_name(int i) { return kinds[i]->name; }

bool collective_is_rooted(const struct op_kind *kind)
{
    return kind->send.holders == OP_ON_ROOT || kind->receive.holders == OP_ON_ROOT;
}

bool collective_reduces(const struct op_kind *kind)
{
    return kind->receive.values == OP_SUM || kind->receive.values == OP_SUM_TO_ME ||
           kind->receive.values == OP_SUM_UP_TO_ME || kind->receive.values == OP_SUM_BELOW_ME;
}

const char *collective_why_missing(const struct op_kind *kind,
                                   const struct collective_parameters *p)
{
    if (kind->no_elements && (!bc_memory_is_host(p->memory.of) || p->buffers == BC_BUFFERS_NEW))
        return "it has no buffers";
    if (!p->in_place)
        return NULL;
    if (kind->in_place == OP_NOT_IN_PLACE)
        return "it has no form in place";
    if (p->root != 0 && op_is_broken(kind, OP_IN_PLACE_ROOT))
        return "this MPI library crashes in place unless rank 0 is the root";
    return NULL;
}

static struct op_shape shape_of(enum op_type type, int64_t bytes, const struct bc_run *run)
{
    return (struct op_shape){
        .ranks = run->job.ranks, .type = type, .elements = bytes / op_type_bytes(type)};
}

/* Returns the bytes of the buffers. In place, the receive buffer also holds the data to send. */
static double bytes_of(const struct op_kind *kind, const struct op_shape *shape,
                       const struct collective_parameters *p)
{
    return op_bytes(kind, shape) * (p->in_place ? 2.0 : 1.0);
}

/* Returns the number of extra buffers: --buffers=new allocates before it frees the old buffer. An
   alternative to a collective has up to twice its data, or buffers and scratch memory. */
static double extra_buffers(const struct collective_parameters *p)
{
    return (p->buffers == BC_BUFFERS_NEW ? 1.0 : 0.0) + (p->guidelines ? 2.0 : 0.0);
}

const char *collective_why_too_large(const struct op_kind *kind, enum op_type type, int64_t bytes,
                                     const struct collective_parameters *p,
                                     const struct bc_run *run)
{
    const struct op_shape shape = shape_of(type, bytes, run);
    /* With --memory there are also pinned buffers and, in host memory, each buffer's image, which
       is filled and verified. */
    const double times = (bc_memory_is_host(p->memory.of) ? 1.0 : 4.0) + extra_buffers(p);
    if (bytes_of(kind, &shape, p) * times > bc_run_usable_bytes(run, BC_MEMORY_SHARE, false))
        return "memory";
    return op_passing_of(kind, &shape) == OP_BEYOND ? "the counts of this MPI library" : NULL;
}

/* A device holds each buffer, a copy of its image, and a copy of the pinned buffer's image. */
double collective_device_bytes(const struct collective_parameters *p, const struct bc_run *run)
{
    double max_bytes = 0.0;
    for (int k = 0; k < COLLECTIVE_KINDS; k++)
        for (int type = 0; type < OP_TYPES; type++)
            for (size_t i = 0; i < p->sizes.count; i++) {
                const struct op_kind *const kind = kinds[k];
                const struct op_shape shape = shape_of((enum op_type)type, p->sizes.values[i], run);
                if (p->operations.chosen[k] && p->types.chosen[type] &&
                    collective_why_missing(kind, p) == NULL &&
                    collective_why_too_large(kind, (enum op_type)type, p->sizes.values[i], p,
                                             run) == NULL)
                    max_bytes =
                        fmax(max_bytes, (3.0 + extra_buffers(p)) * bytes_of(kind, &shape, p));
            }
    return max_bytes;
}
