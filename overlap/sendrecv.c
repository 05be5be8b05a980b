/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Irecv and MPI_Isend: partners send each other a block. */
#include "common/operations/pairs.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(sendrecv, "MPI_Isend and MPI_Irecv", op_sendrecv);

int main(int argc, char **argv) { return overlap_main(&overlap_sendrecv_program, argc, argv); }
