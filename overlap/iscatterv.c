/* MPI_Iscatterv: the root sends another block to every rank, the larger the higher the receiver. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iscatterv, MPI_Iscatterv, MPI_Scatterv,
                     (operation->send, counts->by_rank.amounts, counts->by_rank.displacements,
                      MPI_DOUBLE, operation->receive, count, MPI_DOUBLE, operation->shape.root,
                      operation->comm),
                     .layout = OVERLAP_VARYING,
                     .send = {OVERLAP_ALL_AMOUNTS, OVERLAP_ON_ROOT, OVERLAP_TO_EACH},
                     .receive = {OVERLAP_OWN_AMOUNT, OVERLAP_ON_ALL, OVERLAP_FROM_ROOT_TO_ME});

int main(int argc, char **argv) { return overlap_main(&overlap_iscatterv_program, argc, argv); }
