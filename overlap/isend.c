/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Isend: a rank sends a block to its partner, which is in MPI_Recv all the while. */
#include "common/operations/pairs.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(isend, "MPI_Isend", op_isend);

int main(int argc, char **argv) { return overlap_main(&overlap_isend_program, argc, argv); }
