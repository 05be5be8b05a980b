/* MPI_Ineighbor_alltoall: every rank sends another block to each neighbour in the periodic 3D grid.
   Where two neighbours are the same rank both blocks hold the same values: the standard does not
   say clearly which block arrives where. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ineighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .on_grid = true,
                   .send = {OVERLAP_BLOCK_PER_NEIGHBOUR, OVERLAP_ON_ALL, OVERLAP_TO_EACH},
                   .receive = {OVERLAP_BLOCK_PER_NEIGHBOUR, OVERLAP_ON_ALL,
                               OVERLAP_FROM_EACH_TO_ME});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ineighbor_alltoall_program, argc, argv);
}
