/*
 * MPI_Rget: a rank reads a block from its partner's window, whose rank is in the next barrier all
 * the while. The blocking counterpart is MPI_Get, flushed at once.
 */
#include "overlap/pairs.h"

OP_CALL(post, "MPI_Rget", MPI_Rget(operation->receive, OVERLAP_OF_PARTNER, operation->requests))
OP_CALL(get, "MPI_Get", MPI_Get(operation->receive, OVERLAP_OF_PARTNER))

static void block(struct op_instance *operation)
{
    get(operation);
    overlap_flush(operation);
}

OVERLAP_OPERATION(get, "MPI_Rget", .functions = {.start = post, .blocking = block},
                  .serve = overlap_stay_away, .create = overlap_create_source_window,
                  .destroy = overlap_destroy_window, OVERLAP_LOWER_RECEIVES);

int main(int argc, char **argv) { return overlap_main(&overlap_get_program, argc, argv); }
