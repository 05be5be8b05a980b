/* MPI_Iallgather: every rank gets a block from every rank. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iallgather(operation->send, operation->block.count, operation->block.type,
                          operation->receive, operation->block.count, operation->block.type,
                          operation->comm, request));
}

static const struct overlap_collective iallgather = {
    .name = "iallgather",
    .send_elements = overlap_one_block,
    .receive_elements = overlap_block_per_rank,
    .post = post,
    .sent = overlap_sent_to_all,
    .expected = overlap_from_each,
};

const struct bc_benchmark overlap_iallgather = OVERLAP_BENCHMARK(iallgather, "MPI_Iallgather");
