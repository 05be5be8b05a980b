/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Ireduce_scatter_block: every rank gets its block of the sum over all ranks. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(ireduce_scatter_block, "MPI_Ireduce_scatter_block", op_reduce_scatter_block);

int main(int argc, char **argv)
{
    return overlap_main(&overlap_ireduce_scatter_block_program, argc, argv);
}
