/* MPI_Irecv: a rank receives a block from its partner, which is in MPI_Send all the while. */
#include "overlap/pairs.h"

enum { TAG = 1 };

OVERLAP_CALL(start, counts, "MPI_Irecv",
             MPI_Irecv(operation->receive, counts->count, counts->type, operation->partner, TAG,
                       operation->comm, operation->requests))
OVERLAP_CALL(persist, counts, "MPI_Recv_init",
             MPI_Recv_init(operation->receive, counts->count, counts->type, operation->partner, TAG,
                           operation->comm, operation->requests))
OVERLAP_CALL(block, counts, "MPI_Recv",
             MPI_Recv(operation->receive, counts->count, counts->type, operation->partner, TAG,
                      operation->comm, MPI_STATUS_IGNORE))
OVERLAP_CALL(serve, counts, "MPI_Send",
             MPI_Send(operation->send, counts->count, counts->type, operation->partner, TAG,
                      operation->comm))

OVERLAP_OPERATION(irecv, "MPI_Irecv",
                  .functions = {.start = start, .persist = persist, .blocking = block},
                  .persistent_function = "MPI_Recv_init", .serve = serve,
                  .describe = overlap_pairs_describe, .place = overlap_pairs_place,
                  .send = {overlap_one_block_of_upper, overlap_sent_to_all},
                  .receive = {overlap_one_block_of_lower, overlap_from_partner});

int main(int argc, char **argv) { return overlap_main(&overlap_irecv_program, argc, argv); }
