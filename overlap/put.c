/*
 * MPI_Rput and MPI_Win_flush: a rank writes a block into its partner's window, whose rank is in the
 * next barrier all the while. The blocking counterpart is MPI_Put, flushed at once. The request is
 * for MPI_Test: MPI_Put has none.
 */
#include "overlap/transfers.h"

OVERLAP_CALL(post, counts, "MPI_Rput",
             MPI_Rput(operation->send, counts->count, counts->type, operation->partner, 0,
                      counts->count, counts->type, overlap_window(operation), operation->requests))
OVERLAP_CALL(put, counts, "MPI_Put",
             MPI_Put(operation->send, counts->count, counts->type, operation->partner, 0,
                     counts->count, counts->type, overlap_window(operation)))

static void finish(struct overlap_operation *operation)
{
    BC_MPI(MPI_Wait(operation->requests, MPI_STATUS_IGNORE));
    overlap_flush(operation);
}

static void block(struct overlap_operation *operation)
{
    put(operation);
    overlap_flush(operation);
}

OVERLAP_OPERATION(put, "MPI_Rput", .functions = {.start = post, .blocking = block},
                  .finish = finish, .serve = overlap_stay_away, .describe = overlap_pairs_describe,
                  .place = overlap_pairs_place, .create = overlap_create_target_window,
                  .destroy = overlap_destroy_window, .settle = overlap_sync_window,
                  .send = {overlap_one_block_of_lower, overlap_sent_to_all},
                  .receive = {overlap_one_block_of_upper, overlap_from_partner});

int main(int argc, char **argv) { return overlap_main(&overlap_put_program, argc, argv); }
