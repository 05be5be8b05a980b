/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Iallgatherv: every rank gets a block from every rank, larger ones from higher ranks. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iallgatherv, "MPI_Iallgatherv", op_allgatherv);

int main(int argc, char **argv) { return overlap_main(&overlap_iallgatherv_program, argc, argv); }
