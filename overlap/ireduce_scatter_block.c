/* MPI_Ireduce_scatter_block: every rank gets its block of the sum over all ranks. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ireduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->comm),
                     .layout = OVERLAP_REDUCED,
                     .send = {OVERLAP_BLOCK_PER_RANK, OVERLAP_ON_ALL, OVERLAP_TO_EACH},
                     .receive = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_SUM_TO_ME});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ireduce_scatter_block_program, argc, argv);
}
