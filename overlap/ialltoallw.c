/* MPI_Ialltoallw: as MPI_Ialltoallv, with a datatype for each rank and displacements in bytes. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ialltoallw(operation->send, operation->own.amounts, operation->own.displacements,
                          operation->own.types, operation->receive, operation->by_rank.amounts,
                          operation->by_rank.displacements, operation->by_rank.types,
                          operation->comm, request));
}

static const struct overlap_collective ialltoallw = {
    .name = "ialltoallw",
    .layout = OVERLAP_VARYING_BYTES,
    .send_elements = overlap_own_amount_per_rank,
    .receive_elements = overlap_all_amounts,
    .post = post,
    .sent = overlap_sent_amount_to_each,
    .expected = overlap_from_each_to_me,
};

const struct bc_benchmark overlap_ialltoallw = OVERLAP_BENCHMARK(ialltoallw, "MPI_Ialltoallw");
