/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ibcast: the root sends one block to all ranks. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ibcast, "MPI_Ibcast", op_bcast);

int main(int argc, char **argv) { return overlap_main(&overlap_ibcast_program, argc, argv); }
