/* Puts and gets on coarrays, between two synchronisations: as in the specification. */
#include "common/coarray/coarray.h"
#include "common/large_count/large_count.h"
#include "common/mpi/mpi_check.h"
#include "halo/swap/methods.h"

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
    struct coarray_swap *const c = x->own = bc_allocate(1, sizeof *c, "no memory for a swap");
    bc_coarray_create(&c->coarray, x->comm, halo_array_values(&x->box));
    bc_images_create(&c->neighbours, x->comm, x->grid.neighbours, HALO_FACES);
    for (int face = 0; face < HALO_FACES; face++) {
        c->sent_at[face] = halo_place(&x->box, x->sent[face].start);
        c->received_at[face] = halo_place(&x->box, x->received[face].start);
    }
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        c->sections[d] = bc_type_box(x->array, x->sent[2 * (size_t)d].extent, corner, MPI_DOUBLE);
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

static inline void synchronise(struct coarray_swap *c, bool images)
{
    if (images)
        bc_sync_images(&c->coarray, &c->neighbours);
    else
        bc_sync_all(&c->coarray);
}

/* All faces between two synchronisations. Inlined where `images` and `gets` are constants. */
__attribute__((always_inline)) static inline void swap(const struct halo_exchange *x, bool images,
                                                       bool gets)
{
    struct coarray_swap *const c = x->own;
    synchronise(c, images);
    for (int face = 0; face < HALO_FACES; face++) {
        const int side = halo_opposite(face), neighbour = x->grid.neighbours[face];
        const MPI_Datatype section = c->sections[halo_direction(face)];
        if (gets)
            bc_coarray_get_section(&c->coarray, neighbour, c->sent_at[side],
                                   x->values + c->received_at[face], section);
        else
            bc_coarray_put_section(&c->coarray, neighbour, c->received_at[side],
                                   x->values + c->sent_at[face], section);
    }
    synchronise(c, images);
}

static void put_sync_all(const struct halo_exchange *x) { swap(x, false, false); }

static void put_sync_images(const struct halo_exchange *x) { swap(x, true, false); }

static void get_sync_all(const struct halo_exchange *x) { swap(x, false, true); }

static void get_sync_images(const struct halo_exchange *x) { swap(x, true, true); }

#define ON_COARRAY .create = create_coarray, .destroy = destroy_coarray, .in_window = true

const struct halo_method halo_method_put_all = {
    .name = "put", .sync = BC_SYNC_ALL, .swap = put_sync_all, ON_COARRAY};

const struct halo_method halo_method_put_images = {
    .name = "put", .sync = BC_SYNC_IMAGES, .swap = put_sync_images, ON_COARRAY};

const struct halo_method halo_method_get_all = {
    .name = "get", .sync = BC_SYNC_ALL, .swap = get_sync_all, ON_COARRAY};

const struct halo_method halo_method_get_images = {
    .name = "get", .sync = BC_SYNC_IMAGES, .swap = get_sync_images, ON_COARRAY};
