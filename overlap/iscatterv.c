/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Iscatterv: the root sends a different block to every rank, larger ones to higher ranks. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iscatterv, "MPI_Iscatterv", op_scatterv);

int main(int argc, char **argv) { return overlap_main(&overlap_iscatterv_program, argc, argv); }
