/* MPI_Iallgather: every rank gets a block from every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(iallgather, MPI_Iallgather, MPI_Allgather,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .fails_persistent_in = "MPICH Version:\t4.0.",
                   .send = {OVERLAP_BLOCK, OVERLAP_ON_ALL, OVERLAP_TO_ALL},
                   .receive = {OVERLAP_BLOCK_PER_RANK, OVERLAP_ON_ALL, OVERLAP_FROM_EACH});

int main(int argc, char **argv) { return overlap_main(&overlap_iallgather_program, argc, argv); }
