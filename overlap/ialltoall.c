/* MPI_Ialltoall: every rank sends another block to every rank. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ialltoall(operation->send, operation->block.count, operation->block.type,
                         operation->receive, operation->block.count, operation->block.type,
                         operation->comm, request));
}

static const struct overlap_collective ialltoall = {
    .name = "ialltoall",
    .send_elements = overlap_block_per_rank,
    .receive_elements = overlap_block_per_rank,
    .post = post,
    .sent = overlap_sent_to_each,
    .expected = overlap_from_each_to_me,
};

const struct bc_benchmark overlap_ialltoall = OVERLAP_BENCHMARK(ialltoall, "MPI_Ialltoall");
