/* Faces as datatypes: in messages, in persistent messages, and in a neighbourhood collective. */
#include "common/large_count/large_count.h"
#include "common/mpi/mpi_check.h"
#include "halo/swap/methods.h"

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
    return bc_type_box(x->array, region->extent, region->start, MPI_DOUBLE);
}

static void create_typed(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own = bc_allocate(1, sizeof *t, "no memory for a swap");
    t->statuses = MPI_STATUSES_IGNORE;
    for (int face = 0; face < HALO_FACES; face++) {
        t->sent[face] = type_of(x, &x->sent[face]);
        t->received[face] = type_of(x, &x->received[face]);
        t->ones[face] = 1;
    }
    x->values = halo_allocate_values(halo_array_values(&x->box));
    x->requests = t->requests;
    x->request_count = 2 * HALO_FACES;
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

/* ---- messages -------------------------------------------------------------------------------- */

static void start_messages(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Irecv(x->values, 1, t->received[face], x->grid.neighbours[face], face, x->comm,
                         &t->requests[face]));
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Isend(x->values, 1, t->sent[face], x->grid.neighbours[face], halo_opposite(face),
                         x->comm, &t->requests[HALO_FACES + face]));
}

static void finish_messages(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    BC_MPI(MPI_Waitall(2 * HALO_FACES, t->requests, t->statuses));
}

static void swap_messages_blocking(const struct halo_exchange *x)
{
    const struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        const int side = halo_opposite(face); /* of the halo, where it is received */
        BC_MPI(MPI_Sendrecv(x->values, 1, t->sent[face], x->grid.neighbours[face], side, x->values,
                            1, t->received[side], x->grid.neighbours[side], side, x->comm,
                            MPI_STATUS_IGNORE));
    }
}

const struct halo_method halo_method_types = {
    .name = "isend/irecv types",
    .sync = BC_SYNC_NONE,
    .create = create_typed,
    .swap = halo_swap_in_parts,
    .start = start_messages,
    .finish = finish_messages,
    .blocking = swap_messages_blocking,
    .destroy = destroy_typed,
};

/* ---- persistent messages --------------------------------------------------------------------- */

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

static void start_persistent(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    BC_MPI(MPI_Startall(2 * HALO_FACES, t->requests));
}

const struct halo_method halo_method_persistent = {
    .name = "persistent",
    .persistent = true,
    .sync = BC_SYNC_NONE,
    .create = create_persistent,
    .swap = halo_swap_in_parts,
    .start = start_persistent,
    .finish = finish_messages,
    .blocking = swap_messages_blocking,
    .destroy = destroy_persistent,
};

/* ---- the neighbourhood collective ------------------------------------------------------------ */

static void create_neighbor(struct halo_exchange *x)
{
    create_typed(x);
    x->request_count = 1;
}

static void start_neighbor(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    BC_MPI(MPI_Ineighbor_alltoallw(x->values, t->ones, t->zeros, t->sent, x->values, t->ones,
                                   t->zeros, t->received, x->comm, t->requests));
}

static void finish_neighbor(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    BC_MPI(MPI_Wait(t->requests, MPI_STATUS_IGNORE));
}

static void swap_neighbor_blocking(const struct halo_exchange *x)
{
    const struct typed_swap *const t = x->own;
    BC_MPI(MPI_Neighbor_alltoallw(x->values, t->ones, t->zeros, t->sent, x->values, t->ones,
                                  t->zeros, t->received, x->comm));
}

const struct halo_method halo_method_neighbor = {
    .name = "neighbor_alltoallw",
    .sync = BC_SYNC_NONE,
    .create = create_neighbor,
    .swap = swap_neighbor_blocking,
    .start = start_neighbor,
    .finish = finish_neighbor,
    .blocking = swap_neighbor_blocking,
    .destroy = destroy_typed,
    .may_misplace = true,
    .missing = !COMMCOST_NEIGHBOR_COLLECTIVES,
};
