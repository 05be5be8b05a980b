/* MPI_Iexscan: the sum over the ranks below this one. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iexscan, MPI_Iexscan, MPI_Exscan,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->comm),
                     .layout = OVERLAP_REDUCED,
                     .send = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_TO_ALL},
                     .receive = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_SUM_BELOW_ME});

int main(int argc, char **argv) { return overlap_main(&overlap_iexscan_program, argc, argv); }
