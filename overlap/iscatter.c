/* MPI_Iscatter: the root sends another block to every rank. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Iscatter(operation->send, operation->block.count, operation->block.type,
                        operation->receive, operation->block.count, operation->block.type,
                        operation->shape.root, operation->comm, request));
}

static const struct overlap_collective iscatter = {
    .name = "iscatter",
    .send_elements = overlap_block_per_rank_at_root,
    .receive_elements = overlap_one_block,
    .post = post,
    .sent = overlap_sent_to_each,
    .expected = overlap_from_root_to_me,
};

const struct bc_benchmark overlap_iscatter = OVERLAP_BENCHMARK(iscatter, "MPI_Iscatter");
