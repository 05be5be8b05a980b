/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ialltoallv: every rank sends each rank a different block, larger ones from higher ranks. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ialltoallv, "MPI_Ialltoallv", op_alltoallv);

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoallv_program, argc, argv); }
