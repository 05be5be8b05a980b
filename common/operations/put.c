/*
 * MPI_Rput and MPI_Win_flush: a rank writes a block into its partner's window, whose rank is in the
 * next barrier all the while. The blocking counterpart is MPI_Put, flushed at once. The request is
 * for MPI_Test: MPI_Put has none.
 */
#include "overlap/pairs.h"

OP_CALL(post, "MPI_Rput", MPI_Rput(operation->send, OVERLAP_OF_PARTNER, operation->requests))
OP_CALL(put, "MPI_Put", MPI_Put(operation->send, OVERLAP_OF_PARTNER))

static void finish(struct op_instance *operation)
{
    BC_MPI(MPI_Wait(operation->requests, MPI_STATUS_IGNORE));
    overlap_flush(operation);
}

static void block(struct op_instance *operation)
{
    put(operation);
    overlap_flush(operation);
}

OVERLAP_OPERATION(put, "MPI_Rput", .functions = {.start = post, .blocking = block},
                  .finish = finish, .serve = overlap_stay_away,
                  .create = overlap_create_target_window, .destroy = overlap_destroy_window,
                  .settle = overlap_sync_window, OVERLAP_LOWER_SENDS);

int main(int argc, char **argv) { return overlap_main(&overlap_put_program, argc, argv); }
