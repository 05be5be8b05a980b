/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ineighbor_allgather: every rank gets a block from each neighbour in the periodic 3D grid. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ineighbor_allgather, "MPI_Ineighbor_allgather", op_neighbor_allgather);

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ineighbor_allgather_program, argc, argv);
}
