/* MPI_Ireduce: the sum over all ranks, on the root. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ireduce, MPI_Ireduce, MPI_Reduce,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->shape.root, operation->comm),
                     .layout = OVERLAP_REDUCED,
                     .send = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_TO_ALL},
                     .receive = {OVERLAP_BLOCK, OVERLAP_ON_ROOT, OVERLAP_SUM});

int main(int argc, char **argv) { return overlap_main(&overlap_ireduce_program, argc, argv); }
