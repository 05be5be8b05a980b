/* MPI_Ialltoallv: every rank sends each rank another block, the larger the higher the sender. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ialltoallv, MPI_Ialltoallv, MPI_Alltoallv,
                     (operation->send, counts->own.amounts, counts->own.displacements, MPI_DOUBLE,
                      operation->receive, counts->by_rank.amounts, counts->by_rank.displacements,
                      MPI_DOUBLE, operation->comm),
                     .layout = OVERLAP_VARYING,
                     .send = {OVERLAP_OWN_AMOUNT_PER_RANK, OVERLAP_ON_ALL, OVERLAP_AMOUNT_TO_EACH},
                     .receive = {OVERLAP_ALL_AMOUNTS, OVERLAP_ON_ALL, OVERLAP_FROM_EACH_TO_ME});

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoallv_program, argc, argv); }
