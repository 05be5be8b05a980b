/* MPI_Ireduce: the sum over all ranks, on the root. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ireduce, MPI_Ireduce, MPI_Reduce,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->shape.root, operation->comm),
                     .layout = OVERLAP_REDUCED, .send = {overlap_one_block, overlap_sent_to_all},
                     .receive = {overlap_one_block_at_root, overlap_sum});

int main(int argc, char **argv) { return overlap_main(&overlap_ireduce_program, argc, argv); }
