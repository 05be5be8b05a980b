/* MPI_Iallreduce: the sum over all ranks, on every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iallreduce, MPI_Iallreduce, MPI_Allreduce,
                     (operation->send, operation->receive, counts->count, MPI_DOUBLE, MPI_SUM,
                      operation->comm),
                     .layout = OVERLAP_REDUCED, .send = {overlap_one_block, overlap_sent_to_all},
                     .receive = {overlap_one_block, overlap_sum});

int main(int argc, char **argv) { return overlap_main(&overlap_iallreduce_program, argc, argv); }
