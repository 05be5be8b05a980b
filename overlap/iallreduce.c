/* MPI_Iallreduce: the sum over all ranks, on every rank. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iallreduce(operation->send, operation->receive, operation->block.count, MPI_DOUBLE,
                          MPI_SUM, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iallreduce_c(operation->send, operation->receive,
                            (MPI_Count)operation->shape.elements, MPI_DOUBLE, MPI_SUM,
                            operation->comm, request));
}
#endif

static const struct overlap_collective iallreduce = {
    .name = "iallreduce",
    .layout = OVERLAP_REDUCED,
    .send_elements = overlap_one_block,
    .receive_elements = overlap_one_block,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_to_all,
    .expected = overlap_sum,
};

const struct bc_benchmark overlap_iallreduce = OVERLAP_BENCHMARK(iallreduce, "MPI_Iallreduce");
