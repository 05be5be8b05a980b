/* MPI_Ialltoallw: as MPI_Ialltoallv, with a datatype for each rank and displacements in bytes. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ialltoallw, MPI_Ialltoallw, MPI_Alltoallw,
                   (operation->send, counts->own.amounts, counts->own.displacements,
                    counts->own.types, operation->receive, counts->by_rank.amounts,
                    counts->by_rank.displacements, counts->by_rank.types, operation->comm),
                   .layout = OVERLAP_VARYING_BYTES,
                   .send = {OVERLAP_OWN_AMOUNT_PER_RANK, OVERLAP_ON_ALL, OVERLAP_AMOUNT_TO_EACH},
                   .receive = {OVERLAP_ALL_AMOUNTS, OVERLAP_ON_ALL, OVERLAP_FROM_EACH_TO_ME});

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoallw_program, argc, argv); }
