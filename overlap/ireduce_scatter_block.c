/* MPI_Ireduce_scatter_block: every rank gets its block of the sum over all ranks. */
#include "common/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation,
                 MPI_Request *request)
{
    BC_MPI(MPI_Ireduce_scatter_block(operation->send, operation->receive,
                                     operation->count, MPI_DOUBLE, MPI_SUM,
                                     operation->comm, request));
}

int main(int argc, char **argv)
{
    static const struct overlap_collective ireduce_scatter_block = {
        .name = "ireduce_scatter_block",
        .send_elements = overlap_block_per_rank,
        .receive_elements = overlap_one_block,
        .post = post,
        .sent = overlap_sent_to_each,
        .expected = overlap_sum_to_me,
    };
    return overlap_main(&ireduce_scatter_block, argc, argv);
}
