/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Igatherv: the root gets a block from every rank, larger ones from higher ranks. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(igatherv, "MPI_Igatherv", op_gatherv);

int main(int argc, char **argv) { return overlap_main(&overlap_igatherv_program, argc, argv); }
