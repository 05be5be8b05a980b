/* MPI_Iscatterv: the root sends another block to every rank, the larger the higher the receiver. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE_C(iscatterv, MPI_Iscatterv, MPI_Scatterv,
                     (operation->send, counts->by_rank.amounts, counts->by_rank.displacements,
                      MPI_DOUBLE, operation->receive, count, MPI_DOUBLE, operation->shape.root,
                      operation->comm),
                     .layout = OVERLAP_VARYING,
                     .send = {overlap_all_amounts_at_root, overlap_sent_to_each},
                     .receive = {overlap_own_amount, overlap_from_root_to_me});

int main(int argc, char **argv) { return overlap_main(&overlap_iscatterv_program, argc, argv); }
