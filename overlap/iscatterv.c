/* MPI_Iscatterv: the root sends another block to every rank, the larger the higher the receiver. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iscatterv(operation->send, operation->by_rank.amounts,
                         operation->by_rank.displacements, MPI_DOUBLE, operation->receive,
                         operation->by_rank.amounts[operation->shape.rank], MPI_DOUBLE,
                         operation->shape.root, operation->comm, request));
}

#if OVERLAP_HAS_LARGE
static void post_large(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iscatterv_c(operation->send, operation->by_rank.large_amounts,
                           operation->by_rank.large_displacements, MPI_DOUBLE, operation->receive,
                           operation->by_rank.large_amounts[operation->shape.rank], MPI_DOUBLE,
                           operation->shape.root, operation->comm, request));
}
#endif

static const struct overlap_collective iscatterv = {
    .name = "iscatterv",
    .layout = OVERLAP_VARYING,
    .send_elements = overlap_all_amounts_at_root,
    .receive_elements = overlap_own_amount,
    .post = post,
    .post_large = OVERLAP_LARGE(post_large),
    .sent = overlap_sent_to_each,
    .expected = overlap_from_root_to_me,
};

const struct bc_benchmark overlap_iscatterv = OVERLAP_BENCHMARK(iscatterv, "MPI_Iscatterv");
