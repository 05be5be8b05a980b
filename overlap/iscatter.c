/* MPI_Iscatter: the root sends another block to every rank. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(iscatter, MPI_Iscatter, MPI_Scatter,
                   (operation->send, count, counts->type, operation->receive, count, counts->type,
                    operation->shape.root, operation->comm),
                   .fails_persistent_in = "MPICH Version:\t4.0.",
                   .send = {overlap_block_per_rank_at_root, overlap_sent_to_each},
                   .receive = {overlap_one_block, overlap_from_root_to_me});

int main(int argc, char **argv) { return overlap_main(&overlap_iscatter_program, argc, argv); }
