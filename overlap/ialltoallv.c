/* MPI_Ialltoallv: every rank sends each rank another block, the larger the higher the sender. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(ialltoallv, MPI_Ialltoallv, MPI_Alltoallv,
                     (operation->send, counts->own.amounts, counts->own.displacements, MPI_DOUBLE,
                      operation->receive, counts->by_rank.amounts, counts->by_rank.displacements,
                      MPI_DOUBLE, operation->comm),
                     .layout = OVERLAP_VARYING,
                     .send = {overlap_own_amount_per_rank, overlap_sent_amount_to_each},
                     .receive = {overlap_all_amounts, overlap_from_each_to_me});

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoallv_program, argc, argv); }
