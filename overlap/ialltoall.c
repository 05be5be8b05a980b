/* MPI_Ialltoall: every rank sends another block to every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ialltoall, MPI_Ialltoall, MPI_Alltoall,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .send = {OVERLAP_BLOCK_PER_RANK, OVERLAP_ON_ALL, OVERLAP_TO_EACH},
                   .receive = {OVERLAP_BLOCK_PER_RANK, OVERLAP_ON_ALL, OVERLAP_FROM_EACH_TO_ME});

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoall_program, argc, argv); }
