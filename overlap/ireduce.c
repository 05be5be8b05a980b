/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ireduce: the sum over all ranks, on the root. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ireduce, "MPI_Ireduce", op_reduce);

int main(int argc, char **argv) { return overlap_main(&overlap_ireduce_program, argc, argv); }
