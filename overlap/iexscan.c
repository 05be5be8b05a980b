/* MPI_Iexscan: the sum over the ranks below this one. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iexscan, MPI_Iexscan, MPI_Exscan,
                     (operation->send, operation->receive, count, MPI_DOUBLE, MPI_SUM,
                      operation->comm),
                     .layout = OVERLAP_REDUCED, .send = {overlap_one_block, overlap_sent_to_all},
                     .receive = {overlap_one_block, overlap_sum_below_me});

int main(int argc, char **argv) { return overlap_main(&overlap_iexscan_program, argc, argv); }
