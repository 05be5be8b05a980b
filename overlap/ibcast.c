/* MPI_Ibcast: the root sends one block to all. With large blocks in MPICH 4.0 the data is right,
   but the wait says it is not: tests/mpi_defects/large_ibcast.c. */
#include "overlap/engine/program.h"

OVERLAP_COLLECTIVE(ibcast, MPI_Ibcast, MPI_Bcast,
                   (operation->shape.rank == operation->shape.root ? operation->send
                                                                   : operation->receive,
                    count, counts->type, operation->shape.root, operation->comm),
                   .fails_large_in = "MPICH Version:\t4.0.",
                   .send = {OVERLAP_BLOCK, OVERLAP_ON_ROOT, OVERLAP_TO_ALL},
                   .receive = {OVERLAP_BLOCK, OVERLAP_ON_OTHERS, OVERLAP_FROM_ROOT});

int main(int argc, char **argv) { return overlap_main(&overlap_ibcast_program, argc, argv); }
