/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ialltoall: every rank sends a different block to every rank. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ialltoall, "MPI_Ialltoall", op_alltoall);

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoall_program, argc, argv); }
