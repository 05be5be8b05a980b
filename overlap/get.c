/*
 * MPI_Rget: a rank reads a block from its partner's window, whose rank is in the next barrier all
 * the while. The blocking counterpart is MPI_Get, flushed at once.
 */
#include "overlap/transfers.h"

OVERLAP_CALL(post, counts, "MPI_Rget",
             MPI_Rget(operation->receive, counts->count, counts->type, operation->partner, 0,
                      counts->count, counts->type, overlap_window(operation), operation->requests))
OVERLAP_CALL(get, counts, "MPI_Get",
             MPI_Get(operation->receive, counts->count, counts->type, operation->partner, 0,
                     counts->count, counts->type, overlap_window(operation)))

static void block(struct overlap_operation *operation)
{
    get(operation);
    overlap_flush(operation);
}

OVERLAP_OPERATION(get, "MPI_Rget", .functions = {.start = post, .blocking = block},
                  .serve = overlap_stay_away, .describe = overlap_pairs_describe,
                  .place = overlap_pairs_place, .create = overlap_create_source_window,
                  .destroy = overlap_destroy_window,
                  .send = {overlap_one_block_of_upper, overlap_sent_to_all},
                  .receive = {overlap_one_block_of_lower, overlap_from_partner});

int main(int argc, char **argv) { return overlap_main(&overlap_get_program, argc, argv); }
