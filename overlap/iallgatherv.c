/* MPI_Iallgatherv: every rank gets a block from every rank, the larger the higher the sender. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iallgatherv, MPI_Iallgatherv, MPI_Allgatherv,
                     (operation->send, count, MPI_DOUBLE, operation->receive,
                      counts->by_rank.amounts, counts->by_rank.displacements, MPI_DOUBLE,
                      operation->comm),
                     .layout = OVERLAP_VARYING,
                     .send = {OVERLAP_OWN_AMOUNT, OVERLAP_ON_ALL, OVERLAP_TO_ALL},
                     .receive = {OVERLAP_ALL_AMOUNTS, OVERLAP_ON_ALL, OVERLAP_FROM_EACH});

int main(int argc, char **argv) { return overlap_main(&overlap_iallgatherv_program, argc, argv); }
