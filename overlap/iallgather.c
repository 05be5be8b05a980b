/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Iallgather: every rank gets a block from every rank. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iallgather, "MPI_Iallgather", op_allgather);

int main(int argc, char **argv) { return overlap_main(&overlap_iallgather_program, argc, argv); }
