/* MPI_Ialltoallw: as MPI_Ialltoallv, with a datatype for each rank and displacements in bytes. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ialltoallw, MPI_Ialltoallw, MPI_Alltoallw,
                   (operation->send, counts->own.amounts, counts->own.displacements,
                    counts->own.types, operation->receive, counts->by_rank.amounts,
                    counts->by_rank.displacements, counts->by_rank.types, operation->comm),
                   .layout = OVERLAP_VARYING_BYTES,
                   .send = {overlap_own_amount_per_rank, overlap_sent_amount_to_each},
                   .receive = {overlap_all_amounts, overlap_from_each_to_me});

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoallw_program, argc, argv); }
