/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Rget: a rank reads a block from its partner's window. */
#include "common/operations/pairs.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(get, "MPI_Rget", op_get);

int main(int argc, char **argv) { return overlap_main(&overlap_get_program, argc, argv); }
