/* MPI_Iscan: the sum over the ranks up to and including this one. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iscan, MPI_Iscan, MPI_Scan,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->comm),
                     .layout = OVERLAP_REDUCED,
                     .send = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_TO_ALL},
                     .receive = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_SUM_UP_TO_ME});

int main(int argc, char **argv) { return overlap_main(&overlap_iscan_program, argc, argv); }
