/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Iscan: the sum over the ranks up to and including this one. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iscan, "MPI_Iscan", op_scan);

int main(int argc, char **argv) { return overlap_main(&overlap_iscan_program, argc, argv); }
