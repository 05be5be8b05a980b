/* MPI_Iallgatherv: every rank gets a block from every rank, the larger the higher the sender. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iallgatherv(operation->send, operation->by_rank.amounts[operation->shape.rank],
                           MPI_DOUBLE, operation->receive, operation->by_rank.amounts,
                           operation->by_rank.displacements, MPI_DOUBLE, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iallgatherv_c(
        operation->send, operation->by_rank.large_amounts[operation->shape.rank], MPI_DOUBLE,
        operation->receive, operation->by_rank.large_amounts,
        operation->by_rank.large_displacements, MPI_DOUBLE, operation->comm, request));
}
#endif

static const struct overlap_collective iallgatherv = {
    .name = "iallgatherv",
    .layout = OVERLAP_VARYING,
    .send_elements = overlap_own_amount,
    .receive_elements = overlap_all_amounts,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_to_all,
    .expected = overlap_from_each,
};

const struct bc_benchmark overlap_iallgatherv = OVERLAP_BENCHMARK(iallgatherv, "MPI_Iallgatherv");
