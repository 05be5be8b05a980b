/* MPI_Iallgatherv: every rank gets a block from every rank, the larger the higher
   the sender. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iallgatherv(operation->send, operation->amounts[operation->shape.rank], MPI_DOUBLE,
                           operation->receive, operation->amounts, operation->displacements,
                           MPI_DOUBLE, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iallgatherv_c(operation->send, operation->large_amounts[operation->shape.rank],
                             MPI_DOUBLE, operation->receive, operation->large_amounts,
                             operation->large_displacements, MPI_DOUBLE, operation->comm, request));
}
#endif

int main(int argc, char **argv)
{
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
    return overlap_main(&iallgatherv, argc, argv);
}
