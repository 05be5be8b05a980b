/* SPDX-License-Identifier: BSD-3-Clause */
/* Faces as datatypes: in puts and gets, in messages, in persistent messages, and in a neighbourhood
   collective. */
#include "common/mpi/large_count.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/halo_swap/methods.h"

#include <stdlib.h>

struct typed_swap {
    MPI_Datatype sent[HALO_FACES], received[HALO_FACES];
    struct bc_coarray coarray;   /* for put and get; holds the array */
    struct bc_images neighbours; /* for put and get */
    MPI_Request requests[2 * HALO_FACES];
    MPI_Status *statuses;       /* MPI_STATUSES_IGNORE */
    int ones[HALO_FACES];       /* counts for MPI_Neighbor_alltoallw */
    MPI_Aint zeros[HALO_FACES]; /* displacements for MPI_Neighbor_alltoallw */
};

static MPI_Datatype type_of(const struct halo_exchange *x, const struct halo_region *region)
{
    return bc_type_box(x->array, region->extent, region->start, MPI_DOUBLE);
}

static struct typed_swap *create_types(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own = bc_allocate(1, sizeof *t, "no memory for a swap");
    t->statuses = MPI_STATUSES_IGNORE;
    for (int face = 0; face < HALO_FACES; face++) {
        t->sent[face] = type_of(x, &x->sent[face]);
        t->received[face] = type_of(x, &x->received[face]);
        t->ones[face] = 1;
    }
    return t;
}

static void destroy_types(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        BC_MPI(MPI_Type_free(&t->sent[face]));
        BC_MPI(MPI_Type_free(&t->received[face]));
    }
    free(t);
}

/* ---- puts and gets between two synchronisations, as in the EPCC suite ------------------------ */

static void create_coarray(struct halo_exchange *x)
{
    struct typed_swap *const t = create_types(x);
    const int64_t values = halo_array_values(&x->box);
    double *const own = x->space.device != NULL ? halo_allocate_values(x, values) : NULL;
    bc_coarray_create_on(&t->coarray, x->comm, values, own);
    bc_images_create(&t->neighbours, x->comm, x->grid.neighbours, HALO_FACES);
    x->values = t->coarray.values;
}

static void destroy_coarray(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    bc_images_destroy(&t->neighbours);
    bc_coarray_destroy(&t->coarray);
    if (x->space.device != NULL)
        halo_free_values(x, x->values);
    destroy_types(x);
}

static inline void synchronise(struct typed_swap *t, bool images)
{
    if (images)
        bc_sync_images(&t->coarray, &t->neighbours);
    else
        bc_sync_all(&t->coarray);
}

/* Inlined with constant `images` and `gets`. */
__attribute__((always_inline)) static inline void transfer(const struct halo_exchange *x,
                                                           bool images, bool gets)
{
    struct typed_swap *const t = x->own;
    synchronise(t, images);
    for (int face = 0; face < HALO_FACES; face++) {
        const int side = halo_opposite(face), neighbour = x->grid.neighbours[face];
        if (gets)
            BC_MPI(MPI_Get(x->values, 1, t->received[face], neighbour, 0, 1, t->sent[side],
                           t->coarray.window));
        else
            BC_MPI(MPI_Put(x->values, 1, t->sent[face], neighbour, 0, 1, t->received[side],
                           t->coarray.window));
    }
    synchronise(t, images);
}

static void put_sync_all(const struct halo_exchange *x) { transfer(x, false, false); }

static void put_sync_images(const struct halo_exchange *x) { transfer(x, true, false); }

static void get_sync_all(const struct halo_exchange *x) { transfer(x, false, true); }

static void get_sync_images(const struct halo_exchange *x) { transfer(x, true, true); }

#define ON_COARRAY .create = create_coarray, .destroy = destroy_coarray, .in_window = true

const struct halo_method halo_method_put_all = {
    .name = "put", .sync = BC_SYNC_ALL, .swap = put_sync_all, ON_COARRAY};

const struct halo_method halo_method_put_images = {
    .name = "put", .sync = BC_SYNC_IMAGES, .swap = put_sync_images, ON_COARRAY};

const struct halo_method halo_method_get_all = {
    .name = "get", .sync = BC_SYNC_ALL, .swap = get_sync_all, ON_COARRAY};

const struct halo_method halo_method_get_images = {
    .name = "get", .sync = BC_SYNC_IMAGES, .swap = get_sync_images, ON_COARRAY};

/* ---- messages -------------------------------------------------------------------------------- */

static void create_typed(struct halo_exchange *x)
{
    struct typed_swap *const t = create_types(x);
    x->values = halo_allocate_values(x, halo_array_values(&x->box));
    x->requests = t->requests;
    x->request_count = 2 * HALO_FACES;
}

static void destroy_typed(struct halo_exchange *x)
{
    halo_free_values(x, x->values);
    destroy_types(x);
}

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
        const int side = halo_opposite(face); /* side of the halo where the face arrives */
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
