/* MPI_Iallgather: every rank gets a block from every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(iallgather, MPI_Iallgather, MPI_Allgather,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->comm),
                   .fails_persistent_in = "MPICH Version:\t4.0.",
                   .send = {overlap_one_block, overlap_sent_to_all},
                   .receive = {overlap_block_per_rank, overlap_from_each});

int main(int argc, char **argv) { return overlap_main(&overlap_iallgather_program, argc, argv); }
