/* MPI_Ireduce_scatter: every rank gets its block of the sum; an array has the (equal) counts. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ireduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter,
                     (operation->send, operation->receive, counts->by_rank.amounts, MPI_DOUBLE,
                      MPI_SUM, operation->comm),
                     .layout = OVERLAP_REDUCED,
                     .send = {overlap_block_per_rank, overlap_sent_to_each},
                     .receive = {overlap_one_block, overlap_sum_to_me});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ireduce_scatter_program, argc, argv);
}
