/* MPI_Ialltoallv: every rank sends another block to every rank, the larger the higher the
   sender. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ialltoallv(operation->send, operation->own.amounts, operation->own.displacements,
                          MPI_DOUBLE, operation->receive, operation->by_rank.amounts,
                          operation->by_rank.displacements, MPI_DOUBLE, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ialltoallv_c(
        operation->send, operation->own.large_amounts, operation->own.large_displacements,
        MPI_DOUBLE, operation->receive, operation->by_rank.large_amounts,
        operation->by_rank.large_displacements, MPI_DOUBLE, operation->comm, request));
}
#endif

static const struct overlap_collective ialltoallv = {
    .name = "ialltoallv",
    .layout = OVERLAP_VARYING,
    .send_elements = overlap_own_amount_per_rank,
    .receive_elements = overlap_all_amounts,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_amount_to_each,
    .expected = overlap_from_each_to_me,
};

const struct bc_benchmark overlap_ialltoallv = OVERLAP_BENCHMARK(ialltoallv, "MPI_Ialltoallv");
