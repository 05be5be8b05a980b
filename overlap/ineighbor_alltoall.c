/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ineighbor_alltoall: every rank sends each neighbour a different block in the periodic 3D
   grid. If two neighbours are the same rank, both blocks have the same values. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ineighbor_alltoall, "MPI_Ineighbor_alltoall", op_neighbor_alltoall);

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ineighbor_alltoall_program, argc, argv);
}
