/* MPI_Iscan: the sum over the ranks up to and including this one. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iscan(operation->send, operation->receive, operation->block.count, MPI_DOUBLE,
                     MPI_SUM, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iscan_c(operation->send, operation->receive, (MPI_Count)operation->shape.elements,
                       MPI_DOUBLE, MPI_SUM, operation->comm, request));
}
#endif

static const struct overlap_collective iscan = {
    .name = "iscan",
    .layout = OVERLAP_REDUCED,
    .send_elements = overlap_one_block,
    .receive_elements = overlap_one_block,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_to_all,
    .expected = overlap_sum_up_to_me,
};

const struct bc_benchmark overlap_iscan = OVERLAP_BENCHMARK(iscan, "MPI_Iscan");
