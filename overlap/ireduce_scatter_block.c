/* MPI_Ireduce_scatter_block: every rank gets its block of the sum over all ranks. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ireduce_scatter_block(operation->send, operation->receive, operation->block.count,
                                     MPI_DOUBLE, MPI_SUM, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ireduce_scatter_block_c(operation->send, operation->receive,
                                       (MPI_Count)operation->shape.elements, MPI_DOUBLE, MPI_SUM,
                                       operation->comm, request));
}
#endif

static const struct overlap_collective ireduce_scatter_block = {
    .name = "ireduce_scatter_block",
    .layout = OVERLAP_REDUCED,
    .send_elements = overlap_block_per_rank,
    .receive_elements = overlap_one_block,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_to_each,
    .expected = overlap_sum_to_me,
};

const struct bc_benchmark overlap_ireduce_scatter_block =
    OVERLAP_BENCHMARK(ireduce_scatter_block, "MPI_Ireduce_scatter_block");
