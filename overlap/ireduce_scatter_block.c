/* MPI_Ireduce_scatter_block: every rank gets its block of the sum over all ranks. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ireduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->comm),
                     .layout = OVERLAP_REDUCED,
                     .send = {overlap_block_per_rank, overlap_sent_to_each},
                     .receive = {overlap_one_block, overlap_sum_to_me});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ireduce_scatter_block_program, argc, argv);
}
