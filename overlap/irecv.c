/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Irecv: a rank receives a block from its partner, which is in MPI_Send all the while. */
#include "common/operations/pairs.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(irecv, "MPI_Irecv", op_irecv);

int main(int argc, char **argv) { return overlap_main(&overlap_irecv_program, argc, argv); }
