/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/operations/pairs.h"

#include "common/memory/allocate.h"
#include "common/job/node_order.h"
#include "common/run/run.h"

#include <stdlib.h>

static bool is_lower(const struct op_shape *shape) { return shape->rank < shape->ranks / 2; }

static int partner_of(const struct op_shape *shape)
{
    const int half = shape->ranks / 2;
    if (is_lower(shape))
        return shape->rank + half;
    return shape->rank < 2 * half ? shape->rank - half : MPI_PROC_NULL;
}

void op_pairs_describe(const struct bc_run *run)
{
    struct bc_node_order order;
    bc_node_order_create(&order, &run->job);
    const struct op_shape shape = {.rank = order.place, .ranks = run->job.ranks};
    const int partner = partner_of(&shape);
    bc_crossing_note(&run->job, run->output, "",
                     partner == MPI_PROC_NULL ? -1 : bc_node_order_rank(&order, partner));
    bc_node_order_destroy(&order);
}

static void place(struct op_instance *operation, bool both)
{
    struct bc_node_order order;
    bc_node_order_create(&order, operation->job);
    operation->comm = order.comm; /* freed with the operation */
    operation->shape.rank = order.place;
    operation->shape.partner = partner_of(&operation->shape);
    operation->works =
        operation->shape.partner != MPI_PROC_NULL && (both || is_lower(&operation->shape));
}

void op_pairs_place(struct op_instance *operation) { place(operation, false); }

void op_pairs_place_both(struct op_instance *operation)
{
    place(operation, true);
    operation->request_count = 2;
}

OP_CALL(send, "MPI_Send", MPI_Send(OP_TO_PARTNER))
OP_CALL(receive, "MPI_Recv", MPI_Recv(OP_FROM_PARTNER, MPI_STATUS_IGNORE))

void op_send_block(struct op_instance *operation) { send(operation); }

void op_receive_block(struct op_instance *operation) { receive(operation); }

void op_stay_away(struct op_instance *operation) { (void)operation; }

/* ---- one-sided transfers --------------------------------------------------------------------- */

static void create_window(struct op_instance *operation, void *buffer, int64_t elements)
{
    MPI_Win *const window = bc_allocate(1, sizeof *window, "no memory for a window");
    BC_MPI(MPI_Win_create(buffer, (MPI_Aint)((size_t)elements * sizeof(double)),
                          (int)sizeof(double), MPI_INFO_NULL, operation->comm, window));
    BC_MPI(MPI_Win_set_errhandler(*window, MPI_ERRORS_RETURN));
    BC_MPI(MPI_Win_lock_all(0, *window));
    operation->own = window;
}

/* Makes visible the stores of this rank, and the data that others have put. */
static void sync_window(const struct op_instance *operation)
{
    BC_MPI(MPI_Win_sync(op_window(operation)));
}

void op_create_target_window(struct op_instance *operation)
{
    create_window(operation, operation->receive,
                  op_elements(&operation->kind->receive, &operation->shape));
    operation->settle = sync_window;
}

void op_create_source_window(struct op_instance *operation)
{
    create_window(operation, operation->send,
                  op_elements(&operation->kind->send, &operation->shape));
}

void op_destroy_window(struct op_instance *operation)
{
    MPI_Win *const window = operation->own;
    BC_MPI(MPI_Win_unlock_all(*window));
    BC_MPI(MPI_Win_free(window));
    free(window);
}
