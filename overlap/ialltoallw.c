/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ialltoallw: as MPI_Ialltoallv, with a datatype for each rank and displacements in bytes. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ialltoallw, "MPI_Ialltoallw", op_alltoallw);

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoallw_program, argc, argv); }
