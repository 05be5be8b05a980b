/* Faces as datatypes: in messages, in persistent messages, and in a neighbourhood collective. */
#include "halo/swap/internal.h"

#include "common/mpi/large_count.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>

struct typed_swap {
    MPI_Datatype sent[HALO_FACES], received[HALO_FACES];
    MPI_Request requests[2 * HALO_FACES];
    MPI_Status *statuses;       /* MPI_STATUSES_IGNORE */
    int ones[HALO_FACES];       /* of MPI_Neighbor_alltoallw: counts */
    MPI_Aint zeros[HALO_FACES]; /* and displacements */
};

static MPI_Datatype type_of(const struct halo_exchange *x, const struct halo_region *region)
{
    return bc_type_box(HALO_DIRECTIONS, x->array, region->extent, region->start, MPI_DOUBLE);
}

static void create_typed(struct halo_exchange *x)
{
    struct typed_swap *const t = halo_allocate_own(x, sizeof *t);
    t->statuses = MPI_STATUSES_IGNORE;
    for (int face = 0; face < HALO_FACES; face++) {
        t->sent[face] = type_of(x, &x->sent[face]);
        t->received[face] = type_of(x, &x->received[face]);
        t->ones[face] = 1;
    }
    x->values = halo_allocate_values(halo_array_values(&x->box));
}

static void destroy_typed(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        BC_MPI(MPI_Type_free(&t->sent[face]));
        BC_MPI(MPI_Type_free(&t->received[face]));
    }
    free(x->values);
    free(t);
}

static void swap_typed(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Irecv(x->values, 1, t->received[face], x->grid.neighbours[face], face, x->comm,
                         &t->requests[face]));
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Isend(x->values, 1, t->sent[face], x->grid.neighbours[face], halo_opposite(face),
                         x->comm, &t->requests[HALO_FACES + face]));
    BC_MPI(MPI_Waitall(2 * HALO_FACES, t->requests, t->statuses));
}

static void create_persistent(struct halo_exchange *x)
{
    create_typed(x);
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        BC_MPI(MPI_Recv_init(x->values, 1, t->received[face], x->grid.neighbours[face], face,
                             x->comm, &t->requests[face]));
        BC_MPI(MPI_Send_init(x->values, 1, t->sent[face], x->grid.neighbours[face],
                             halo_opposite(face), x->comm, &t->requests[HALO_FACES + face]));
    }
}

static void destroy_persistent(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int i = 0; i < 2 * HALO_FACES; i++)
        BC_MPI(MPI_Request_free(&t->requests[i]));
    destroy_typed(x);
}

static void swap_persistent(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    BC_MPI(MPI_Startall(2 * HALO_FACES, t->requests));
    BC_MPI(MPI_Waitall(2 * HALO_FACES, t->requests, t->statuses));
}

static void swap_neighbor_alltoallw(const struct halo_exchange *x)
{
    const struct typed_swap *const t = x->own;
    BC_MPI(MPI_Neighbor_alltoallw(x->values, t->ones, t->zeros, t->sent, x->values, t->ones,
                                  t->zeros, t->received, x->comm));
}

/* Which side of which rank each side of the halo must come from: block s of the sender is block
   s ^ 1 of the receiver where both its neighbours are the same rank, too (MPI 4.1, 8.6; an erratum
   of MPI 3.1 by MPI 4.0, B.1.1). MPICH 4.0.2 takes the blocks in order
   (tests/end_to_end/neighbor_order.c). */
static bool neighbor_alltoallw_is_right(const struct halo_grid *grid, MPI_Comm comm)
{
    int wrong = 0;
    int sent[HALO_FACES], received[HALO_FACES], ones[HALO_FACES];
    MPI_Aint places[HALO_FACES];
    MPI_Datatype types[HALO_FACES];
    for (int f = 0; f < HALO_FACES; f++) {
        sent[f] = HALO_FACES * grid->rank + f;
        received[f] = -1;
        ones[f] = 1;
        places[f] = f * (MPI_Aint)sizeof *sent;
        types[f] = MPI_INT;
    }
    BC_MPI(MPI_Neighbor_alltoallw(sent, ones, places, types, received, ones, places, types, comm));
    for (int f = 0; f < HALO_FACES; f++)
        wrong |= received[f] != HALO_FACES * grid->neighbours[f] + halo_opposite(f);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm));
    return !wrong;
}

const struct halo_method halo_method_types = {"isend/irecv types", HALO_SYNC_NONE, create_typed,
                                              swap_typed, .destroy = destroy_typed};
const struct halo_method halo_method_persistent = {"persistent", HALO_SYNC_NONE, create_persistent,
                                                   swap_persistent, .destroy = destroy_persistent};
const struct halo_method halo_method_neighbor = {"neighbor_alltoallw",
                                                 HALO_SYNC_NONE,
                                                 create_typed,
                                                 swap_neighbor_alltoallw,
                                                 destroy_typed,
                                                 .is_right = neighbor_alltoallw_is_right,
                                                 .missing = !COMMCOST_NEIGHBOR_COLLECTIVES};
