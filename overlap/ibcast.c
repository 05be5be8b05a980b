/* MPI_Ibcast: the root sends one block to all. */
#include "common/mpi/mpi_check.h"
#include "overlap/engine/overlap.h"

static void post(const struct overlap_operation *operation, MPI_Request *request)
{
    double *const buffer =
        operation->shape.rank == operation->shape.root ? operation->send : operation->receive;
    BC_MPI(MPI_Ibcast(buffer, operation->block.count, operation->block.type, operation->shape.root,
                      operation->comm, request));
}

static const struct overlap_collective ibcast = {
    .name = "ibcast",
    /* The data is right, but the wait says it is not: tests/mpi_defects/large_ibcast.c. */
    .fails_large_in = "MPICH Version:\t4.0.",
    .send_elements = overlap_one_block_at_root,
    .receive_elements = overlap_one_block_but_at_root,
    .post = post,
    .sent = overlap_sent_to_all,
    .expected = overlap_from_root,
};

const struct bc_benchmark overlap_ibcast = OVERLAP_BENCHMARK(ibcast, "MPI_Ibcast");
