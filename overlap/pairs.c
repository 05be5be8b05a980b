#include "overlap/pairs.h"

#include "common/layout/node_order.h"

static int partner_of(const struct overlap_shape *shape)
{
    const int half = shape->ranks / 2;
    if (overlap_is_lower(shape))
        return shape->rank + half;
    return overlap_is_upper(shape) ? shape->rank - half : MPI_PROC_NULL;
}

void overlap_pairs_describe(const struct bc_run *run)
{
    struct bc_node_order order;
    bc_node_order_create(&order, &run->job);
    const struct overlap_shape shape = {.rank = order.place, .ranks = run->job.ranks};
    const int partner = partner_of(&shape);
    bc_crossing_note(&run->job, run->output, "",
                     partner == MPI_PROC_NULL ? -1 : bc_node_order_rank(&order, partner));
    bc_node_order_destroy(&order);
}

static void place(struct overlap_operation *operation, bool both)
{
    struct bc_node_order order;
    bc_node_order_create(&order, operation->job);
    operation->comm = order.comm; /* freed with the operation */
    operation->shape.rank = order.place;
    operation->partner = partner_of(&operation->shape);
    operation->works =
        operation->partner != MPI_PROC_NULL && (both || overlap_is_lower(&operation->shape));
}

void overlap_pairs_place(struct overlap_operation *operation) { place(operation, false); }

void overlap_pairs_place_both(struct overlap_operation *operation) { place(operation, true); }

OVERLAP_CALL(send, "MPI_Send", MPI_Send(OVERLAP_TO_PARTNER))
OVERLAP_CALL(receive, "MPI_Recv", MPI_Recv(OVERLAP_FROM_PARTNER, MPI_STATUS_IGNORE))

void overlap_send(struct overlap_operation *operation) { send(operation); }

void overlap_receive(struct overlap_operation *operation) { receive(operation); }

void overlap_stay_away(struct overlap_operation *operation) { (void)operation; }
