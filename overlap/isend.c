/* MPI_Isend: a rank sends a block to its partner, which is in MPI_Recv all the while. */
#include "overlap/pairs.h"

enum { TAG = 1 };

OVERLAP_CALL(start, counts, "MPI_Isend",
             MPI_Isend(operation->send, counts->count, counts->type, operation->partner, TAG,
                       operation->comm, operation->requests))
OVERLAP_CALL(persist, counts, "MPI_Send_init",
             MPI_Send_init(operation->send, counts->count, counts->type, operation->partner, TAG,
                           operation->comm, operation->requests))
OVERLAP_CALL(block, counts, "MPI_Send",
             MPI_Send(operation->send, counts->count, counts->type, operation->partner, TAG,
                      operation->comm))
OVERLAP_CALL(serve, counts, "MPI_Recv",
             MPI_Recv(operation->receive, counts->count, counts->type, operation->partner, TAG,
                      operation->comm, MPI_STATUS_IGNORE))

OVERLAP_OPERATION(isend, "MPI_Isend",
                  .functions = {.start = start, .persist = persist, .blocking = block},
                  .persistent_function = "MPI_Send_init", .serve = serve,
                  .describe = overlap_pairs_describe, .place = overlap_pairs_place,
                  .send = {overlap_one_block_of_lower, overlap_sent_to_all},
                  .receive = {overlap_one_block_of_upper, overlap_from_partner});

int main(int argc, char **argv) { return overlap_main(&overlap_isend_program, argc, argv); }
