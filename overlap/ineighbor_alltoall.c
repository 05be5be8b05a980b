/* MPI_Ineighbor_alltoall: every rank sends another block to each neighbour in the periodic 3D
   grid. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ineighbor_alltoall(operation->send, operation->block.count, operation->block.type,
                                  operation->receive, operation->block.count, operation->block.type,
                                  operation->comm, request));
}

/* Where two neighbours are the same rank both blocks hold the same values: the standard does not
   say clearly which of the blocks arrives where. */
static double sent(const struct overlap_operation *operation, int64_t i)
{
    const int64_t block = i / operation->shape.elements;
    return overlap_value(operation->shape.rank, operation->neighbours[block],
                         i % operation->shape.elements);
}

static double expected(const struct overlap_operation *operation, int64_t i)
{
    const int64_t block = i / operation->shape.elements;
    return overlap_value(operation->neighbours[block], operation->shape.rank,
                         i % operation->shape.elements);
}

static const struct overlap_collective ineighbor_alltoall = {
    .name = "ineighbor_alltoall",
    .on_grid = true,
    .send_elements = overlap_block_per_neighbour,
    .receive_elements = overlap_block_per_neighbour,
    .post = post,
    .sent = sent,
    .expected = expected,
};

const struct bc_benchmark overlap_ineighbor_alltoall =
    OVERLAP_BENCHMARK(ineighbor_alltoall, "MPI_Ineighbor_alltoall");
