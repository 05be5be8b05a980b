#include "collective/collective.h"

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

const char *collective_lacks(const struct op_kind *kind, const struct collective_parameters *p)
{
    if (!p->in_place)
        return NULL;
    if (kind->in_place == OP_NOT_IN_PLACE)
        return "it has no form in place, or none for blocks that differ";
    /* MPICH 4.0: tests/mpi_defects/reduce_in_place.c. */
    if (p->root != 0 && op_fails_in_place(kind))
        return "in place it crashes in this MPI library where the root isn't rank 0";
    return NULL;
}

const char *collective_too_large(const struct op_kind *kind, enum op_type type, int64_t bytes,
                                 bool in_place, const struct bc_run *run)
{
    const struct op_shape shape = {
        .ranks = run->job.ranks, .type = type, .elements = bytes / op_type_bytes(type)};
    /* In place the receive buffer has room for what is sent. */
    const double buffers = op_bytes(kind, &shape) * (in_place ? 2.0 : 1.0);
    if (buffers > bc_run_usable_bytes(run, BC_MEMORY_SHARE, false))
        return "memory";
    return op_passing_of(kind, &shape) == OP_BEYOND ? "what this MPI library can count" : NULL;
}
