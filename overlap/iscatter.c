/* MPI_Iscatter: the root sends another block to every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(iscatter, MPI_Iscatter, MPI_Scatter,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->shape.root, operation->comm),
                   .fails_persistent_in = "MPICH Version:\t4.0.",
                   .send = {OVERLAP_BLOCK_PER_RANK, OVERLAP_ON_ROOT, OVERLAP_TO_EACH},
                   .receive = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_FROM_ROOT_TO_ME});

int main(int argc, char **argv) { return overlap_main(&overlap_iscatter_program, argc, argv); }
