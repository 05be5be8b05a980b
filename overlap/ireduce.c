/* MPI_Ireduce: the sum over all ranks, on the root. */
#include "common/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation,
                 MPI_Request *request)
{
    BC_MPI(MPI_Ireduce(operation->send, operation->receive, operation->count,
                       MPI_DOUBLE, MPI_SUM, operation->shape.root,
                       operation->comm, request));
}

int main(int argc, char **argv)
{
    static const struct overlap_collective ireduce = {
        .name = "ireduce",
        .send_elements = overlap_one_block,
        .receive_elements = overlap_one_block_at_root,
        .post = post,
        .sent = overlap_sent_to_all,
        .expected = overlap_sum,
    };
    return overlap_main(&ireduce, argc, argv);
}
