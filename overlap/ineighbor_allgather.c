/* MPI_Ineighbor_allgather: every rank gets a block from each neighbour in the periodic 3D grid. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ineighbor_allgather(operation->send, operation->block.count, operation->block.type,
                                   operation->receive, operation->block.count,
                                   operation->block.type, operation->comm, request));
}

static double expected(const struct overlap_operation *operation, int64_t i)
{
    const int64_t block = i / operation->shape.elements;
    return overlap_value(operation->neighbours[block], 0, i % operation->shape.elements);
}

static const struct overlap_collective ineighbor_allgather = {
    .name = "ineighbor_allgather",
    .on_grid = true,
    .send_elements = overlap_one_block,
    .receive_elements = overlap_block_per_neighbour,
    .post = post,
    .sent = overlap_sent_to_all,
    .expected = expected,
};

const struct bc_benchmark overlap_ineighbor_allgather =
    OVERLAP_BENCHMARK(ineighbor_allgather, "MPI_Ineighbor_allgather");
