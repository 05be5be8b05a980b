/* MPI_Ineighbor_alltoall: every rank sends another block to each neighbour in the periodic 3D grid.
   Where two neighbours are the same rank both blocks hold the same values: the standard does not
   say clearly which block arrives where. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ineighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .on_grid = true, .send = {overlap_block_per_neighbour, overlap_sent_to_each},
                   .receive = {overlap_block_per_neighbour, overlap_from_each_to_me});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ineighbor_alltoall_program, argc, argv);
}
