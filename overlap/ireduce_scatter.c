/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ireduce_scatter: every rank gets its block of the sum; the (equal) counts are an array. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ireduce_scatter, "MPI_Ireduce_scatter", op_reduce_scatter);

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ireduce_scatter_program, argc, argv);
}
