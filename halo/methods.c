#include "halo/methods.h"

#include "common/mpi/coarray.h"
#include "common/mpi/large_count.h"
#include "common/mpi/mpi_check.h"
#include "halo/packed.h"
#include "halo/shared_window.h"

#include <stdlib.h>

const char *const halo_sync_names[HALO_SYNCS] = {"all", "images", "none"};

/* ---- put and get ----------------------------------------------------------------------------- */

struct coarray_swap {
    struct bc_coarray coarray;
    struct bc_images neighbours;
    struct bc_section sections[HALO_DIRECTIONS];          /* a face's shape */
    int64_t sent_at[HALO_FACES], received_at[HALO_FACES]; /* places */
};

static void create_coarray(struct halo_exchange *x)
{
    struct coarray_swap *const c = halo_allocate(sizeof *c);
    int64_t array[HALO_DIRECTIONS];
    bc_coarray_create(&c->coarray, x->comm, halo_array_values(&x->box));
    bc_images_create(&c->neighbours, &c->coarray, x->grid.neighbours, HALO_FACES);
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        array[d] = halo_array_extent(&x->box, d);
    for (int face = 0; face < HALO_FACES; face++) {
        c->sent_at[face] = halo_place(&x->box, x->sent[face].start);
        c->received_at[face] = halo_place(&x->box, x->received[face].start);
    }
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        bc_section_create_box(&c->sections[d], HALO_DIRECTIONS, array,
                              x->sent[halo_lower(d)].extent);
    x->values = c->coarray.values;
    x->own = c;
}

static void destroy_coarray(struct halo_exchange *x)
{
    struct coarray_swap *const c = x->own;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        bc_section_destroy(&c->sections[d]);
    bc_images_destroy(&c->neighbours);
    bc_coarray_destroy(&c->coarray);
    free(c);
}

static inline void put_faces(const struct halo_exchange *x, const struct coarray_swap *c)
{
    for (int face = 0; face < HALO_FACES; face++)
        bc_coarray_put_section(&c->coarray, x->grid.neighbours[face],
                               c->received_at[halo_opposite(face)], x->values + c->sent_at[face],
                               &c->sections[halo_direction(face)]);
}

static inline void get_faces(const struct halo_exchange *x, const struct coarray_swap *c)
{
    for (int face = 0; face < HALO_FACES; face++)
        bc_coarray_get_section(&c->coarray, x->grid.neighbours[face],
                               c->sent_at[halo_opposite(face)], x->values + c->received_at[face],
                               &c->sections[halo_direction(face)]);
}

static void put_sync_all(const struct halo_exchange *x)
{
    const struct coarray_swap *const c = x->own;
    bc_sync_all(&c->coarray);
    put_faces(x, c);
    bc_sync_all(&c->coarray);
}

static void put_sync_images(const struct halo_exchange *x)
{
    struct coarray_swap *const c = x->own;
    bc_sync_images(&c->coarray, &c->neighbours);
    put_faces(x, c);
    bc_sync_images(&c->coarray, &c->neighbours);
}

static void get_sync_all(const struct halo_exchange *x)
{
    const struct coarray_swap *const c = x->own;
    bc_sync_all(&c->coarray);
    get_faces(x, c);
    bc_sync_all(&c->coarray);
}

static void get_sync_images(const struct halo_exchange *x)
{
    struct coarray_swap *const c = x->own;
    bc_sync_images(&c->coarray, &c->neighbours);
    get_faces(x, c);
    bc_sync_images(&c->coarray, &c->neighbours);
}

/* ---- messages of derived datatypes ----------------------------------------------------------- */

/* A message's tag is the face where it is received: the neighbours on both sides
   may be the same rank. */

struct typed_swap {
    MPI_Datatype sent[HALO_FACES], received[HALO_FACES];
    MPI_Request requests[2 * HALO_FACES];
    MPI_Status *statuses;       /* MPI_STATUSES_IGNORE */
    int ones[HALO_FACES];       /* of MPI_Neighbor_alltoallw: counts */
    MPI_Aint zeros[HALO_FACES]; /* and displacements */
};

static MPI_Datatype type_of(const struct halo_box *box, const struct halo_region *region)
{
    int64_t array[HALO_DIRECTIONS];
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        array[d] = halo_array_extent(box, d);
    return bc_type_box(HALO_DIRECTIONS, array, region->extent, region->start, MPI_DOUBLE);
}

static void create_typed(struct halo_exchange *x)
{
    struct typed_swap *const t = halo_allocate(sizeof *t);
    t->statuses = MPI_STATUSES_IGNORE;
    for (int face = 0; face < HALO_FACES; face++) {
        t->sent[face] = type_of(&x->box, &x->sent[face]);
        t->received[face] = type_of(&x->box, &x->received[face]);
        t->ones[face] = 1;
    }
    x->values = halo_allocate_values(halo_array_values(&x->box));
    x->own = t;
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

/* Which side of which rank each side of the halo must come from: block s of the
   sender is block s ^ 1 of the receiver where both its neighbours are the same
   rank, too (MPI 4.1, 8.6; an erratum of MPI 3.1 by MPI 4.0, B.1.1). MPICH 4.0.2
   takes the blocks in order (tests/end_to_end/neighbor_order.c). */
static bool neighbor_alltoallw_is_right(const struct halo_grid *grid, MPI_Comm comm)
{
    int rank, wrong = 0;
    int sent[HALO_FACES], received[HALO_FACES], ones[HALO_FACES];
    MPI_Aint places[HALO_FACES];
    MPI_Datatype types[HALO_FACES];
    BC_MPI(MPI_Comm_rank(comm, &rank));
    for (int f = 0; f < HALO_FACES; f++) {
        sent[f] = HALO_FACES * rank + f;
        received[f] = -1;
        ones[f] = 1;
        places[f] = f * (MPI_Aint)sizeof *sent;
        types[f] = MPI_INT;
    }
    BC_MPI(MPI_Neighbor_alltoallw(sent, ones, places, types, received, ones, places, types, comm));
    for (int f = 0; f < HALO_FACES; f++)
        wrong |= received[f] != HALO_FACES * grid->neighbours[f] + (f ^ 1);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm));
    return !wrong;
}

/* ---- packed messages ------------------------------------------------------------------------- */

static void create_packed(struct halo_exchange *x)
{
    static const bool all[HALO_FACES] = {true, true, true, true, true, true};
    struct halo_packed *const packed = halo_allocate(sizeof *packed);
    halo_packed_create(packed, x, all);
    x->values = halo_allocate_values(halo_array_values(&x->box));
    x->own = packed;
}

static void destroy_packed(struct halo_exchange *x)
{
    halo_packed_destroy(x->own);
    free(x->values);
    free(x->own);
}

static void swap_packed(const struct halo_exchange *x)
{
    halo_packed_start(x, x->own);
    halo_packed_finish(x, x->own);
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct halo_method halo_methods[HALO_METHODS] = {
    {.name = "put",
     .sync = HALO_SYNC_ALL,
     .in_window = true,
     .create = create_coarray,
     .swap = put_sync_all,
     .destroy = destroy_coarray},
    {.name = "put",
     .sync = HALO_SYNC_IMAGES,
     .in_window = true,
     .create = create_coarray,
     .swap = put_sync_images,
     .destroy = destroy_coarray},
    {.name = "get",
     .sync = HALO_SYNC_ALL,
     .in_window = true,
     .create = create_coarray,
     .swap = get_sync_all,
     .destroy = destroy_coarray},
    {.name = "get",
     .sync = HALO_SYNC_IMAGES,
     .in_window = true,
     .create = create_coarray,
     .swap = get_sync_images,
     .destroy = destroy_coarray},
    {.name = "isend/irecv types",
     .sync = HALO_SYNC_NONE,
     .create = create_typed,
     .swap = swap_typed,
     .destroy = destroy_typed},
    {.name = "isend/irecv packed",
     .sync = HALO_SYNC_NONE,
     .packs = true,
     .create = create_packed,
     .swap = swap_packed,
     .destroy = destroy_packed},
    {.name = "persistent",
     .sync = HALO_SYNC_NONE,
     .create = create_persistent,
     .swap = swap_persistent,
     .destroy = destroy_persistent},
    {.name = "neighbor_alltoallw",
     .sync = HALO_SYNC_NONE,
     .missing = !COMMCOST_NEIGHBOR_COLLECTIVES,
     .create = create_typed,
     .swap = swap_neighbor_alltoallw,
     .destroy = destroy_typed,
     .is_right = neighbor_alltoallw_is_right},
    {.name = "shared window",
     .sync = HALO_SYNC_NONE,
     .in_window = true,
     .shares_node = true,
     .packs = true,
     .create = halo_shared_create,
     .swap = halo_shared_swap,
     .destroy = halo_shared_destroy},
};
