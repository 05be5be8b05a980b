#include "halo/packed.h"

#include "common/mpi/mpi_check.h"
#include "halo/copy.h"

#include <stdlib.h>

void halo_packed_create(struct halo_packed *packed, const struct halo_exchange *exchange,
                        const bool chosen[HALO_FACES])
{
    *packed = (struct halo_packed){.statuses = MPI_STATUSES_IGNORE};
    for (int face = 0; face < HALO_FACES; face++) {
        if (!chosen[face])
            continue;
        const int64_t values = halo_face_values(&exchange->box, face);
        packed->faces[packed->count] = face;
        packed->sent[packed->count] = halo_allocate_values(values);
        packed->received[packed->count] = halo_allocate_values(values);
        bc_amount_create(&packed->amounts[packed->count], values, MPI_DOUBLE);
        packed->count++;
    }
}

void halo_packed_destroy(struct halo_packed *packed)
{
    for (int i = 0; i < packed->count; i++) {
        free(packed->sent[i]);
        free(packed->received[i]);
        bc_amount_destroy(&packed->amounts[i]);
    }
}

void halo_packed_start(const struct halo_exchange *exchange, struct halo_packed *packed)
{
    const struct halo_exchange *const x = exchange;
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

/* By MPI_Waitany, so that one face is unpacked while others are on their way. */
void halo_packed_finish(const struct halo_exchange *exchange, struct halo_packed *packed)
{
    const struct halo_exchange *const x = exchange;
    for (int arrived = 0; arrived < packed->count; arrived++) {
        int i;
        BC_MPI(MPI_Waitany(packed->count, packed->receives, &i, MPI_STATUS_IGNORE));
        halo_unpack(&x->box, &x->received[packed->faces[i]], packed->received[i], x->values);
    }
    BC_MPI(MPI_Waitall(packed->count, packed->sends, packed->statuses));
}
