/* MPI_Ineighbor_allgather: every rank gets a block from each neighbour in the periodic 3D grid. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ineighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .on_grid = true, .send = {overlap_one_block, overlap_sent_to_all},
                   .receive = {overlap_block_per_neighbour, overlap_from_each});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ineighbor_allgather_program, argc, argv);
}
