/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Rget: a rank reads a block from its partner's window; the partner waits in the next barrier.
   The blocking counterpart is MPI_Get, flushed at once. */
#include "common/operations/pairs.h"

OP_CALL(post, "MPI_Rget", MPI_Rget(operation->receive, OP_OF_PARTNER, operation->requests))
OP_CALL(get, "MPI_Get", MPI_Get(operation->receive, OP_OF_PARTNER))

static void block(struct op_instance *operation)
{
    get(operation);
    op_flush(operation);
}

const struct op_kind op_get = {.name = "get",
                               .functions = {.start = post, .blocking = block},
                               .serve = op_stay_away,
                               .create = op_create_source_window,
                               .destroy = op_destroy_window,
                               OP_LOWER_RECEIVES};
