/* MPI_Iscatterv: the root sends another block to every rank, the larger the higher the receiver. */
#include "common/operations/collectives.h"
#include "overlap/engine/program.h"

OVERLAP_OPERATION(iscatterv, "MPI_Iscatterv", op_scatterv);

int main(int argc, char **argv) { return overlap_main(&overlap_iscatterv_program, argc, argv); }
