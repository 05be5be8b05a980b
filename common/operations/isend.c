/* MPI_Isend: a rank sends a block to its partner, which is in MPI_Recv all the while. */
#include "overlap/pairs.h"

OP_CALL(start, "MPI_Isend", MPI_Isend(OVERLAP_TO_PARTNER, operation->requests))
OP_CALL(persist, "MPI_Send_init", MPI_Send_init(OVERLAP_TO_PARTNER, operation->requests))

OVERLAP_OPERATION(isend, "MPI_Isend",
                  .functions = {.start = start, .persist = persist, .blocking = overlap_send},
                  .persistent_function = "MPI_Send_init", .serve = overlap_receive,
                  OVERLAP_LOWER_SENDS);

int main(int argc, char **argv) { return overlap_main(&overlap_isend_program, argc, argv); }
