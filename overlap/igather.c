/* MPI_Igather: the root gets a block from every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(igather, MPI_Igather, MPI_Gather,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->shape.root, operation->comm),
                   .fails_persistent_in = "MPICH Version:\t4.0.",
                   .send = {overlap_one_block, overlap_sent_to_all},
                   .receive = {overlap_block_per_rank_at_root, overlap_from_each});

int main(int argc, char **argv) { return overlap_main(&overlap_igather_program, argc, argv); }
