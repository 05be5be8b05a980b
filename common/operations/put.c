/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Rput and MPI_Win_flush: a rank writes a block into its partner's window; the partner is in
 * the next barrier. The blocking counterpart is MPI_Put, flushed at once. MPI_Rput has a request to
 * test, MPI_Put has none.
 */
#include "common/operations/pairs.h"

OP_CALL(post, "MPI_Rput", MPI_Rput(operation->send, OP_OF_PARTNER, operation->requests))
OP_CALL(put, "MPI_Put", MPI_Put(operation->send, OP_OF_PARTNER))

static void finish(struct op_instance *operation)
{
    BC_MPI(MPI_Wait(operation->requests, MPI_STATUS_IGNORE));
    op_flush(operation);
}

static void block(struct op_instance *operation)
{
    put(operation);
    op_flush(operation);
}

const struct op_kind op_put = {.name = "put",
                               .functions = {.start = post, .blocking = block},
                               .finish = finish,
                               .serve = op_stay_away,
                               .create = op_create_target_window,
                               .destroy = op_destroy_window,
                               OP_LOWER_SENDS};
