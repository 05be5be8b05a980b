/* MPI_Iexscan: the sum over the ranks below this one. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iexscan(operation->send, operation->receive, operation->block.count, MPI_DOUBLE,
                       MPI_SUM, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iexscan_c(operation->send, operation->receive, (MPI_Count)operation->shape.elements,
                         MPI_DOUBLE, MPI_SUM, operation->comm, request));
}
#endif

static const struct overlap_collective iexscan = {
    .name = "iexscan",
    .layout = OVERLAP_REDUCED,
    .send_elements = overlap_one_block,
    .receive_elements = overlap_one_block,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_to_all,
    .expected = overlap_sum_below_me,
};

const struct bc_benchmark overlap_iexscan = OVERLAP_BENCHMARK(iexscan, "MPI_Iexscan");
