/* MPI_Ibcast: the root sends one block to all. With large blocks in MPICH 4.0 the data is right,
   but the wait says it is not: tests/mpi_defects/large_ibcast.c. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ibcast, MPI_Ibcast, MPI_Bcast,
                   (overlap_is_root(&operation->shape) ? operation->send : operation->receive,
                    count, counts->type, operation->shape.root, operation->comm),
                   .fails_large_in = "MPICH Version:\t4.0.",
                   .send = {overlap_one_block_at_root, overlap_sent_to_all},
                   .receive = {overlap_one_block_but_at_root, overlap_from_root});

int main(int argc, char **argv) { return overlap_main(&overlap_ibcast_program, argc, argv); }
