/* MPI_Iscan: the sum over the ranks up to and including this one. */
#include "common/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation,
                 MPI_Request *request)
{
    BC_MPI(MPI_Iscan(operation->send, operation->receive, operation->count,
                     MPI_DOUBLE, MPI_SUM, operation->comm, request));
}

int main(int argc, char **argv)
{
    static const struct overlap_collective iscan = {
        .name = "iscan",
        .send_elements = overlap_one_block,
        .receive_elements = overlap_one_block,
        .post = post,
        .sent = overlap_sent_to_all,
        .expected = overlap_sum_up_to_me,
    };
    return overlap_main(&iscan, argc, argv);
}
