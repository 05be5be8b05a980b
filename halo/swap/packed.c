#include "halo/swap/packed.h"

#include "common/mpi/mpi_check.h"
#include "halo/swap/internal.h"

#include <stdlib.h>

void halo_packed_init(struct halo_packed *packed, const struct halo_exchange *x,
                      const bool chosen[HALO_FACES])
{
    *packed = (struct halo_packed){.statuses = MPI_STATUSES_IGNORE};
    for (int face = 0; face < HALO_FACES; face++) {
        if (!chosen[face])
            continue;
        const int64_t values = halo_face_values(&x->box, face);
        const int i = packed->count++;
        packed->faces[i] = face;
        packed->sent[i] = halo_allocate_values(values);
        packed->received[i] = halo_allocate_values(values);
        bc_amount_create(&packed->amounts[i], values, MPI_DOUBLE);
    }
}

void halo_packed_free(struct halo_packed *packed)
{
    for (int i = 0; i < packed->count; i++) {
        free(packed->sent[i]);
        free(packed->received[i]);
        bc_amount_destroy(&packed->amounts[i]);
    }
}

void halo_packed_start(const struct halo_exchange *x, struct halo_packed *packed)
{
    MPI_Request *const receives = packed->requests, *const sends = receives + packed->count;
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        BC_MPI(MPI_Irecv(packed->received[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], face, x->comm, &receives[i]));
    }
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        halo_pack(&x->box, &x->sent[face], x->values, packed->sent[i]);
        BC_MPI(MPI_Isend(packed->sent[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], halo_opposite(face), x->comm, &sends[i]));
    }
}

static inline void unpack(const struct halo_exchange *x, const struct halo_packed *packed, int i)
{
    halo_unpack(&x->box, &x->received[packed->faces[i]], packed->received[i], x->values);
}

void halo_packed_finish(const struct halo_exchange *x, struct halo_packed *packed)
{
    MPI_Request *const receives = packed->requests, *const sends = receives + packed->count;
    int pending = packed->count;
    for (int i = 0; i < packed->count; i++)
        if (receives[i] == MPI_REQUEST_NULL) {
            unpack(x, packed, i);
            pending--;
        }
    for (; pending > 0; pending--) {
        int i;
        BC_MPI(MPI_Waitany(packed->count, receives, &i, MPI_STATUS_IGNORE));
        unpack(x, packed, i);
    }
    BC_MPI(MPI_Waitall(packed->count, sends, packed->statuses));
}

/* ---- all faces packed ------------------------------------------------------------------------ */

static void create_packed(struct halo_exchange *x)
{
    static const bool all[HALO_FACES] = {true, true, true, true, true, true};
    struct halo_packed *const packed = halo_allocate_own(x, sizeof *packed);
    halo_packed_init(packed, x, all);
    x->values = halo_allocate_values(halo_array_values(&x->box));
    x->requests = packed->requests;
    x->request_count = 2 * HALO_FACES;
}

static void destroy_packed(struct halo_exchange *x)
{
    halo_packed_free(x->own);
    free(x->values);
    free(x->own);
}

static void start_packed(const struct halo_exchange *x) { halo_packed_start(x, x->own); }

static void finish_packed(const struct halo_exchange *x) { halo_packed_finish(x, x->own); }

static void swap_packed(const struct halo_exchange *x)
{
    start_packed(x);
    finish_packed(x);
}

/* All faces are packed, so entry i of each array is that of face i. */
static void swap_packed_blocking(const struct halo_exchange *x)
{
    const struct halo_packed *const packed = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        const int side = halo_opposite(face); /* of the halo, where it is received */
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
    .sync = HALO_SYNC_NONE,
    .create = create_packed,
    .swap = swap_packed,
    .start = start_packed,
    .finish = finish_packed,
    .blocking = swap_packed_blocking,
    .destroy = destroy_packed,
    .packs = true,
};
