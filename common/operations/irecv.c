/* MPI_Irecv: a rank receives a block from its partner, which is in MPI_Send all the while. */
#include "overlap/pairs.h"

OP_CALL(start, "MPI_Irecv", MPI_Irecv(OVERLAP_FROM_PARTNER, operation->requests))
OP_CALL(persist, "MPI_Recv_init", MPI_Recv_init(OVERLAP_FROM_PARTNER, operation->requests))

OVERLAP_OPERATION(irecv, "MPI_Irecv",
                  .functions = {.start = start, .persist = persist, .blocking = overlap_receive},
                  .persistent_function = "MPI_Recv_init", .serve = overlap_send,
                  OVERLAP_LOWER_RECEIVES);

int main(int argc, char **argv) { return overlap_main(&overlap_irecv_program, argc, argv); }
