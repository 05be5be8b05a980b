/* MPI_Ialltoall: every rank sends another block to every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ialltoall, MPI_Ialltoall, MPI_Alltoall,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .send = {overlap_block_per_rank, overlap_sent_to_each},
                   .receive = {overlap_block_per_rank, overlap_from_each_to_me});

int main(int argc, char **argv) { return overlap_main(&overlap_ialltoall_program, argc, argv); }
