/* MPI_Igather: the root gets a block from every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(igather, MPI_Igather, MPI_Gather,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->shape.root, operation->comm),
                   .fails_persistent_in = "MPICH Version:\t4.0.",
                   .send = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_TO_ALL},
                   .receive = {OVERLAP_BLOCK_PER_RANK, OVERLAP_ON_ROOT, OVERLAP_FROM_EACH});

int main(int argc, char **argv) { return overlap_main(&overlap_igather_program, argc, argv); }
