/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ibarrier: no rank leaves before the last one enters. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ibarrier, "MPI_Ibarrier", op_barrier);

int main(int argc, char **argv) { return overlap_main(&overlap_ibarrier_program, argc, argv); }
