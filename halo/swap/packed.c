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
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        BC_MPI(MPI_Irecv(packed->received[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], face, x->comm, &packed->receives[i]));
    }
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        halo_pack(&x->box, &x->sent[face], x->values, packed->sent[i]);
        BC_MPI(MPI_Isend(packed->sent[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], halo_opposite(face), x->comm,
                         &packed->sends[i]));
    }
}

void halo_packed_finish(const struct halo_exchange *x, struct halo_packed *packed)
{
    for (int arrived = 0; arrived < packed->count; arrived++) {
        int i;
        BC_MPI(MPI_Waitany(packed->count, packed->receives, &i, MPI_STATUS_IGNORE));
        halo_unpack(&x->box, &x->received[packed->faces[i]], packed->received[i], x->values);
    }
    BC_MPI(MPI_Waitall(packed->count, packed->sends, packed->statuses));
}

static void create_packed(struct halo_exchange *x)
{
    static const bool all[HALO_FACES] = {true, true, true, true, true, true};
    halo_packed_init(halo_allocate_own(x, sizeof(struct halo_packed)), x, all);
    x->values = halo_allocate_values(halo_array_values(&x->box));
}

static void destroy_packed(struct halo_exchange *x)
{
    halo_packed_free(x->own);
    free(x->values);
    free(x->own);
}

static void swap_packed(const struct halo_exchange *x)
{
    halo_packed_start(x, x->own);
    halo_packed_finish(x, x->own);
}

const struct halo_method halo_method_packed = {"isend/irecv packed", HALO_SYNC_NONE, create_packed,
                                               swap_packed,          destroy_packed, .packs = true};
