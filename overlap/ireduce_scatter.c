/* MPI_Ireduce_scatter: every rank gets its block of the sum; an array has the (equal) counts. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ireduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter,
                     (operation->send, operation->receive, counts->by_rank.amounts, MPI_DOUBLE,
                      MPI_SUM, operation->comm),
                     .layout = OVERLAP_REDUCED,
                     .send = {OVERLAP_BLOCK_PER_RANK, OVERLAP_ON_ALL, OVERLAP_TO_EACH},
                     .receive = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_SUM_TO_ME});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ireduce_scatter_program, argc, argv);
}
