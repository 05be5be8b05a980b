/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Iscatter: the root sends a different block to every rank. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iscatter, "MPI_Iscatter", op_scatter);

int main(int argc, char **argv) { return overlap_main(&overlap_iscatter_program, argc, argv); }
