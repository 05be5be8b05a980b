/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Rput and MPI_Win_flush: a rank writes a block into its partner's window. */
#include "common/operations/pairs.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(put, "MPI_Rput", op_put);

int main(int argc, char **argv) { return overlap_main(&overlap_put_program, argc, argv); }
