/* MPI_Ineighbor_allgather: every rank gets a block from each neighbour in the periodic 3D grid. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ineighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .on_grid = true, .send = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_TO_ALL},
                   .receive = {OVERLAP_BLOCK_PER_NEIGHBOUR, OVERLAP_ON_ALL, OVERLAP_FROM_EACH});

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ineighbor_allgather_program, argc, argv);
}
