/* SPDX-License-Identifier: BSD-3-Clause */
/* Faces packed into contiguous buffers and sent as messages: all six faces, or, in addition to
   shared memory, those that cross nodes. */
#include "common/coarray/coarray.h"
#include "common/mpi/large_count.h"
#include "common/job/node_order.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/halo_swap/methods.h"

#include <stdlib.h>
#include <string.h>

/* Indexed by face. NULL and MPI_REQUEST_NULL for faces that aren't packed. */
struct packed {
    double *sent[HALO_FACES], *received[HALO_FACES]; /* buffers */
    struct bc_amount amounts[HALO_FACES];            /* of values in each buffer */
    MPI_Request requests[2 * HALO_FACES];            /* receives, then sends */
    MPI_Status *statuses;                            /* MPI_STATUSES_IGNORE */
};

static void create_buffers(const struct halo_exchange *x, int face)
{
    struct packed *const packed = x->own;
    const int64_t values = halo_face_values(&x->box, face);
    packed->sent[face] = halo_allocate_values(x, values);
    packed->received[face] = halo_allocate_values(x, values);
    bc_amount_create(&packed->amounts[face], values, MPI_DOUBLE);
}

static void destroy_buffers(const struct halo_exchange *x)
{
    struct packed *const packed = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        halo_free_values(x, packed->sent[face]);
        halo_free_values(x, packed->received[face]);
        bc_amount_destroy(&packed->amounts[face]);
    }
}

/* Makes x->own, which begins with a struct packed without faces. */
static void *create_own(struct halo_exchange *x, size_t bytes)
{
    struct packed *const packed = x->own = bc_allocate(1, bytes, "no memory for a swap");
    packed->statuses = MPI_STATUSES_IGNORE;
    for (int i = 0; i < 2 * HALO_FACES; i++)
        packed->requests[i] = MPI_REQUEST_NULL;
    return packed;
}

/* Tags messages by the face where they are received, since both neighbours may be the same rank. */
static void start_packed(const struct halo_exchange *x)
{
    struct packed *const packed = x->own;
    for (int face = 0; face < HALO_FACES; face++)
        if (packed->received[face] != NULL)
            BC_MPI(MPI_Irecv(packed->received[face], packed->amounts[face].count,
                             packed->amounts[face].type, x->grid.neighbours[face], face, x->comm,
                             &packed->requests[face]));
    for (int face = 0; face < HALO_FACES; face++)
        if (packed->sent[face] != NULL) {
            halo_pack(&x->box, &x->sent[face], x->values, packed->sent[face]);
            BC_MPI(MPI_Isend(packed->sent[face], packed->amounts[face].count,
                             packed->amounts[face].type, x->grid.neighbours[face],
                             halo_opposite(face), x->comm, &packed->requests[HALO_FACES + face]));
        }
}

static inline void unpack(const struct halo_exchange *x, const struct packed *packed, int face)
{
    halo_unpack(&x->box, &x->received[face], packed->received[face], x->values);
}

/* Unpacks the faces that tests have completed, then each other face as it arrives; then waits for
   the sends. */
static void finish_packed(const struct halo_exchange *x)
{
    struct packed *const packed = x->own;
    MPI_Request *const receives = packed->requests;
    int pending = 0;
    for (int face = 0; face < HALO_FACES; face++)
        if (receives[face] != MPI_REQUEST_NULL)
            pending++;
        else if (packed->received[face] != NULL)
            unpack(x, packed, face);
    for (; pending > 0; pending--) {
        int face;
        BC_MPI(MPI_Waitany(HALO_FACES, receives, &face, MPI_STATUS_IGNORE));
        unpack(x, packed, face);
    }
    BC_MPI(MPI_Waitall(HALO_FACES, receives + HALO_FACES, packed->statuses));
}

/* ---- all faces packed ------------------------------------------------------------------------ */

static void create_packed(struct halo_exchange *x)
{
    struct packed *const packed = create_own(x, sizeof *packed);
    for (int face = 0; face < HALO_FACES; face++)
        create_buffers(x, face);
    x->values = halo_allocate_values(x, halo_array_values(&x->box));
    x->requests = packed->requests;
    x->request_count = 2 * HALO_FACES;
}

static void destroy_packed(struct halo_exchange *x)
{
    destroy_buffers(x);
    halo_free_values(x, x->values);
    free(x->own);
}

static void swap_packed_blocking(const struct halo_exchange *x)
{
    const struct packed *const packed = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        const int side = halo_opposite(face); /* side of the halo where the face arrives */
        const struct bc_amount *const amount = &packed->amounts[face];
        halo_pack(&x->box, &x->sent[face], x->values, packed->sent[face]);
        BC_MPI(MPI_Sendrecv(packed->sent[face], amount->count, amount->type,
                            x->grid.neighbours[face], side, packed->received[side], amount->count,
                            amount->type, x->grid.neighbours[side], side, x->comm,
                            MPI_STATUS_IGNORE));
        unpack(x, packed, side);
    }
}

const struct halo_method halo_method_packed = {
    .name = "isend/irecv packed",
    .sync = BC_SYNC_NONE,
    .create = create_packed,
    .swap = halo_swap_in_parts,
    .start = start_packed,
    .finish = finish_packed,
    .blocking = swap_packed_blocking,
    .destroy = destroy_packed,
    .packs = true,
};

/* ---- memory that the ranks of a node share --------------------------------------------------- */

/* Arrays in a window, from which ranks copy their halos. */
struct shared_swap {
    struct packed far;                /* faces that cross nodes */
    const double *arrays[HALO_FACES]; /* by face: the array of a neighbour on this node, or NULL */
    struct bc_images peers;           /* neighbours on this node */
    MPI_Win window;                   /* in a passive epoch throughout its life */
};

/* Allocates the array, zeroed, in whole pages (bc_window_bytes). Collective over the node. */
static void allocate_shared(struct shared_swap *shared, struct halo_exchange *x)
{
    const MPI_Aint bytes = bc_window_bytes(halo_array_values(&x->box));
    BC_MPI(MPI_Win_allocate_shared(bytes, (int)sizeof(double), MPI_INFO_NULL, x->node_comm,
                                   (void *)&x->values, &shared->window));
    BC_MPI(MPI_Win_set_errhandler(shared->window, MPI_ERRORS_RETURN));
    memset(x->values, 0, (size_t)bytes);
    BC_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, shared->window));
}

static void create_shared(struct halo_exchange *x)
{
    struct shared_swap *const shared = create_own(x, sizeof *shared);
    int near[HALO_FACES], count = 0, unit_bytes;
    MPI_Aint bytes;
    allocate_shared(shared, x);
    for (int face = 0; face < HALO_FACES; face++) {
        const int rank = x->grid.neighbours[face];
        const int node_rank = bc_translate_rank(x->comm, rank, x->node_comm);
        if (node_rank == MPI_UNDEFINED) {
            create_buffers(x, face);
            continue;
        }
        BC_MPI(MPI_Win_shared_query(shared->window, node_rank, &bytes, &unit_bytes,
                                    (void *)&shared->arrays[face]));
        near[count++] = rank;
    }
    bc_images_create(&shared->peers, x->comm, near, count);
}

static void destroy_shared(struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    destroy_buffers(x);
    bc_images_destroy(&shared->peers);
    BC_MPI(MPI_Win_unlock_all(shared->window));
    BC_MPI(MPI_Win_free(&shared->window));
    free(shared);
}

/* Returns when the neighbours on this node have called it, too; makes earlier stores visible on
   both sides. */
static void meet_peers(const struct halo_exchange *x, struct shared_swap *shared)
{
    BC_MPI(MPI_Win_sync(shared->window));
    bc_images_meet(&shared->peers, x->comm);
    BC_MPI(MPI_Win_sync(shared->window));
}

static void swap_shared(const struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    start_packed(x);
    meet_peers(x, shared); /* the neighbours' layers are ready */
    for (int face = 0; face < HALO_FACES; face++)
        if (shared->arrays[face] != NULL)
            halo_copy(&x->box, &x->sent[halo_opposite(face)], shared->arrays[face],
                      &x->received[face], x->values);
    meet_peers(x, shared); /* the neighbours have read this rank's layers */
    finish_packed(x);
}

const struct halo_method halo_method_shared = {
    .name = "shared window",
    .sync = BC_SYNC_NONE,
    .create = create_shared,
    .swap = swap_shared,
    .destroy = destroy_shared,
    .in_window = true,
    .shares_node = true,
    .packs = true,
};
