/* Puts and gets on coarrays, between two synchronisations: as in the specification. */
#include "halo/swap/internal.h"

#include "common/coarray/coarray.h"
#include "common/large_count/large_count.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>

struct coarray_swap {
    struct bc_coarray coarray;
    struct bc_images neighbours;
    MPI_Datatype sections[HALO_DIRECTIONS];               /* a face's shape */
    int64_t sent_at[HALO_FACES], received_at[HALO_FACES]; /* places */
};

static void create_coarray(struct halo_exchange *x)
{
    static const int64_t corner[HALO_DIRECTIONS];
    struct coarray_swap *const c = halo_allocate_own(x, sizeof *c);
    bc_coarray_create(&c->coarray, x->comm, halo_array_values(&x->box));
    bc_images_create(&c->neighbours, &c->coarray, x->grid.neighbours, HALO_FACES);
    for (int face = 0; face < HALO_FACES; face++) {
        c->sent_at[face] = halo_place(&x->box, x->sent[face].start);
        c->received_at[face] = halo_place(&x->box, x->received[face].start);
    }
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        c->sections[d] = bc_type_box(HALO_DIRECTIONS, x->array, x->sent[2 * (size_t)d].extent,
                                     corner, MPI_DOUBLE);
    x->values = c->coarray.values;
}

static void destroy_coarray(struct halo_exchange *x)
{
    struct coarray_swap *const c = x->own;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        BC_MPI(MPI_Type_free(&c->sections[d]));
    bc_images_destroy(&c->neighbours);
    bc_coarray_destroy(&c->coarray);
    free(c);
}

static inline void put_faces(const struct halo_exchange *x, const struct coarray_swap *c)
{
    for (int face = 0; face < HALO_FACES; face++)
        bc_coarray_put_section(&c->coarray, x->grid.neighbours[face],
                               c->received_at[halo_opposite(face)], x->values + c->sent_at[face],
                               c->sections[halo_direction(face)]);
}

static inline void get_faces(const struct halo_exchange *x, const struct coarray_swap *c)
{
    for (int face = 0; face < HALO_FACES; face++)
        bc_coarray_get_section(&c->coarray, x->grid.neighbours[face],
                               c->sent_at[halo_opposite(face)], x->values + c->received_at[face],
                               c->sections[halo_direction(face)]);
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

const struct halo_method halo_method_put_all = {
    .name = "put",
    .sync = HALO_SYNC_ALL,
    .create = create_coarray,
    .swap = put_sync_all,
    .destroy = destroy_coarray,
    .in_window = true,
};

const struct halo_method halo_method_put_images = {
    .name = "put",
    .sync = HALO_SYNC_IMAGES,
    .create = create_coarray,
    .swap = put_sync_images,
    .destroy = destroy_coarray,
    .in_window = true,
};

const struct halo_method halo_method_get_all = {
    .name = "get",
    .sync = HALO_SYNC_ALL,
    .create = create_coarray,
    .swap = get_sync_all,
    .destroy = destroy_coarray,
    .in_window = true,
};

const struct halo_method halo_method_get_images = {
    .name = "get",
    .sync = HALO_SYNC_IMAGES,
    .create = create_coarray,
    .swap = get_sync_images,
    .destroy = destroy_coarray,
    .in_window = true,
};
