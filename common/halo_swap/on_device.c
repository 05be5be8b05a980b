/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faces of an array on a device: a kernel packs them into one buffer on the device, messages carry
 * them, and a kernel unpacks them.
 *
 * A kernel packs all six faces; the receives are posted; the host waits for the kernel, since MPI
 * may read the buffer only afterwards; the faces are sent. When all faces have arrived, a kernel
 * unpacks them, and the host waits for it. Staged, a copy to pinned memory follows the first
 * kernel, and a copy from there precedes the second kernel.
 */
#include "common/mpi/large_count.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/halo_swap/methods.h"

#include <stdlib.h>

/* The six faces, sent or received, one after the other. */
struct faces {
    int64_t *places;  /* on the device: indices in the array */
    double *packed;   /* on the device */
    double *messages; /* for MPI: `packed`, or pinned memory */
};

struct device_swap {
    int64_t values, first[HALO_FACES]; /* number of all values; first value of each face */
    struct faces sent, received;
    struct bc_amount amounts[HALO_FACES];
    MPI_Request requests[2 * HALO_FACES]; /* receives, then sends */
    MPI_Status *statuses;                 /* MPI_STATUSES_IGNORE */
};

/* ---- memory and kernels of a swap ------------------------------------------------------------ */

static void *allocate(const struct halo_exchange *x, enum bc_memory memory, int64_t count)
{
    void *const start = bc_device_allocate(x->space.device, memory, (size_t)count * sizeof(double));
    if (start == NULL)
        bc_abort("no memory for %lld values: use a smaller --local", (long long)count);
    return start;
}

static void list_places(const struct halo_exchange *x, const struct halo_region *region,
                        int64_t *places)
{
    const int64_t *const start = region->start, *const extent = region->extent;
    int64_t p[HALO_DIRECTIONS];
    for (p[0] = start[0]; p[0] < start[0] + extent[0]; p[0]++)
        for (p[1] = start[1]; p[1] < start[1] + extent[1]; p[1]++)
            for (p[2] = start[2]; p[2] < start[2] + extent[2]; p[2]++)
                *places++ = halo_place(&x->box, p);
}

static void create_faces(const struct halo_exchange *x, const struct halo_region *regions,
                         struct faces *faces)
{
    const struct device_swap *const swap = x->own;
    const size_t bytes = (size_t)swap->values * sizeof(int64_t);
    int64_t *const places = bc_allocate(1, bytes, "no memory for a swap");
    for (int face = 0; face < HALO_FACES; face++)
        list_places(x, &regions[face], places + swap->first[face]);
    faces->places = allocate(x, BC_MEMORY_DEVICE, swap->values);
    bc_device_copy(x->space.device, faces->places, places, bytes);
    bc_device_wait(x->space.device);
    free(places);
    faces->packed = allocate(x, x->space.memory, swap->values);
    faces->messages = x->space.staged ? allocate(x, BC_MEMORY_PINNED, swap->values) : faces->packed;
}

static void destroy_faces(const struct halo_exchange *x, struct faces *faces)
{
    struct bc_device *const device = x->space.device;
    if (x->space.staged)
        bc_device_free(device, BC_MEMORY_PINNED, faces->messages);
    bc_device_free(device, x->space.memory, faces->packed);
    bc_device_free(device, BC_MEMORY_DEVICE, faces->places);
}

static void create(struct halo_exchange *x)
{
    struct device_swap *const swap = x->own = bc_allocate(1, sizeof *swap, "no memory for a swap");
    for (int face = 0; face < HALO_FACES; face++) {
        const int64_t values = halo_face_values(&x->box, face);
        swap->first[face] = swap->values;
        swap->values += values;
        bc_amount_create(&swap->amounts[face], values, MPI_DOUBLE);
    }
    swap->statuses = MPI_STATUSES_IGNORE;
    x->values = halo_allocate_values(x, halo_array_values(&x->box));
    create_faces(x, x->sent, &swap->sent);
    create_faces(x, x->received, &swap->received);
}

static void destroy(struct halo_exchange *x)
{
    struct device_swap *const swap = x->own;
    destroy_faces(x, &swap->sent);
    destroy_faces(x, &swap->received);
    for (int face = 0; face < HALO_FACES; face++)
        bc_amount_destroy(&swap->amounts[face]);
    halo_free_values(x, x->values);
    free(swap);
}

/* ---- a swap ---------------------------------------------------------------------------------- */

static void receive_faces(const struct halo_exchange *x, struct device_swap *swap)
{
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Irecv(swap->received.messages + swap->first[face], swap->amounts[face].count,
                         swap->amounts[face].type, x->grid.neighbours[face], face, x->comm,
                         &swap->requests[face]));
}

/* Tags messages by the face where they are received, as packed.c does. */
static void send_faces(const struct halo_exchange *x, struct device_swap *swap)
{
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Isend(swap->sent.messages + swap->first[face], swap->amounts[face].count,
                         swap->amounts[face].type, x->grid.neighbours[face], halo_opposite(face),
                         x->comm, &swap->requests[HALO_FACES + face]));
}

/* Inlined with a constant `staged`. */
__attribute__((always_inline)) static inline void swap_faces(const struct halo_exchange *x,
                                                             bool staged)
{
    struct device_swap *const swap = x->own;
    struct bc_device *const device = x->space.device;
    const size_t values = (size_t)swap->values, bytes = values * sizeof(double);
    bc_device_gather(device, swap->sent.packed, x->values, swap->sent.places, values);
    if (staged)
        bc_device_copy_later(device, swap->sent.messages, swap->sent.packed, bytes);
    receive_faces(x, swap);
    bc_device_synchronize(device);
    send_faces(x, swap);
    BC_MPI(MPI_Waitall(2 * HALO_FACES, swap->requests, swap->statuses));
    if (staged)
        bc_device_copy_later(device, swap->received.packed, swap->received.messages, bytes);
    bc_device_scatter(device, x->values, swap->received.packed, swap->received.places, values);
    bc_device_synchronize(device);
}

static void swap_direct(const struct halo_exchange *x) { swap_faces(x, false); }

static void swap_staged(const struct halo_exchange *x) { swap_faces(x, true); }

const struct halo_method halo_method_packed_on_device = {
    .name = "isend/irecv packed",
    .sync = BC_SYNC_NONE,
    .create = create,
    .swap = swap_direct,
    .destroy = destroy,
    .packs = true,
};

const struct halo_method halo_method_staged = {
    .name = "staged",
    .sync = BC_SYNC_NONE,
    .create = create,
    .swap = swap_staged,
    .destroy = destroy,
    .packs = true,
};
