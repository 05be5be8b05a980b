/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Iexscan: the sum over the ranks below this one. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iexscan, "MPI_Iexscan", op_exscan);

int main(int argc, char **argv) { return overlap_main(&overlap_iexscan_program, argc, argv); }
