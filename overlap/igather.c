/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Igather: the root gets a block from every rank. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(igather, "MPI_Igather", op_gather);

int main(int argc, char **argv) { return overlap_main(&overlap_igather_program, argc, argv); }
