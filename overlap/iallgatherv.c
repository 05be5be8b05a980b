/* MPI_Iallgatherv: every rank gets a block from every rank, the larger the higher the sender. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iallgatherv, MPI_Iallgatherv, MPI_Allgatherv,
                     (operation->send, count, MPI_DOUBLE, operation->receive,
                      counts->by_rank.amounts, counts->by_rank.displacements, MPI_DOUBLE,
                      operation->comm),
                     .layout = OVERLAP_VARYING, .send = {overlap_own_amount, overlap_sent_to_all},
                     .receive = {overlap_all_amounts, overlap_from_each});

int main(int argc, char **argv) { return overlap_main(&overlap_iallgatherv_program, argc, argv); }
