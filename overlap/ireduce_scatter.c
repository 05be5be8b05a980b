/* MPI_Ireduce_scatter: every rank gets its block of the sum over all ranks; the counts are an
   array, here of equal ones. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ireduce_scatter(operation->send, operation->receive, operation->by_rank.amounts,
                               MPI_DOUBLE, MPI_SUM, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Ireduce_scatter_c(operation->send, operation->receive,
                                 operation->by_rank.large_amounts, MPI_DOUBLE, MPI_SUM,
                                 operation->comm, request));
}
#endif

static const struct overlap_collective ireduce_scatter = {
    .name = "ireduce_scatter",
    .layout = OVERLAP_REDUCED,
    .send_elements = overlap_block_per_rank,
    .receive_elements = overlap_one_block,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_to_each,
    .expected = overlap_sum_to_me,
};

const struct bc_benchmark overlap_ireduce_scatter =
    OVERLAP_BENCHMARK(ireduce_scatter, "MPI_Ireduce_scatter");
