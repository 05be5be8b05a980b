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

/* A swap: `move` between two synchronisations. Inlined where these are named. */
__attribute__((always_inline)) static inline void move_between(
    const struct halo_exchange *x, void (*sync)(struct coarray_swap *),
    void (*move)(const struct halo_exchange *, const struct coarray_swap *))
{
    struct coarray_swap *const c = x->own;
    sync(c);
    move(x, c);
    sync(c);
}

static inline void sync_all(struct coarray_swap *c) { bc_sync_all(&c->coarray); }

static inline void sync_images(struct coarray_swap *c)
{
    bc_sync_images(&c->coarray, &c->neighbours);
}

static void put_sync_all(const struct halo_exchange *x) { move_between(x, sync_all, put_faces); }

static void put_sync_images(const struct halo_exchange *x)
{
    move_between(x, sync_images, put_faces);
}

static void get_sync_all(const struct halo_exchange *x) { move_between(x, sync_all, get_faces); }

static void get_sync_images(const struct halo_exchange *x)
{
    move_between(x, sync_images, get_faces);
}

#define ON_COARRAY .create = create_coarray, .destroy = destroy_coarray, .in_window = true

const struct halo_method halo_method_put_all = {
    .name = "put", .sync = HALO_SYNC_ALL, .swap = put_sync_all, ON_COARRAY};

const struct halo_method halo_method_put_images = {
    .name = "put", .sync = HALO_SYNC_IMAGES, .swap = put_sync_images, ON_COARRAY};

const struct halo_method halo_method_get_all = {
    .name = "get", .sync = HALO_SYNC_ALL, .swap = get_sync_all, ON_COARRAY};

const struct halo_method halo_method_get_images = {
    .name = "get", .sync = HALO_SYNC_IMAGES, .swap = get_sync_images, ON_COARRAY};
