/* MPI_Igather: the root gets a block from every rank. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    BC_MPI(MPI_Igather(operation->send, operation->block.count, operation->block.type,
                       operation->receive, operation->block.count, operation->block.type,
                       operation->shape.root, operation->comm, request));
}

static const struct overlap_collective igather = {
    .name = "igather",
    .send_elements = overlap_one_block,
    .receive_elements = overlap_block_per_rank_at_root,
    .post = post,
    .sent = overlap_sent_to_all,
    .expected = overlap_from_each,
};

const struct bc_benchmark overlap_igather = OVERLAP_BENCHMARK(igather, "MPI_Igather");
