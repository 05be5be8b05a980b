/*
 * Faces that go as messages of packed values: by isend and irecv, out of buffers
 * into which they are copied and into buffers out of which they are copied.
 */
#ifndef COMMCOST_HALO_PACKED_H
#define COMMCOST_HALO_PACKED_H

#include "common/mpi/large_count.h"
#include "halo/exchange.h"

#include <mpi.h>
#include <stdbool.h>

struct halo_packed {
    int count; /* of faces that go so */
    int faces[HALO_FACES];
    double *sent[HALO_FACES];             /* buffers, in the order of `faces`, as all */
    double *received[HALO_FACES];         /* that follows */
    struct bc_amount amounts[HALO_FACES]; /* of values in each */
    MPI_Request sends[HALO_FACES];
    MPI_Request receives[HALO_FACES];
    MPI_Status *statuses; /* MPI_STATUSES_IGNORE */
};

/* Makes the buffers of the faces that are chosen; none is fine. Local. */
void halo_packed_create(struct halo_packed *packed, const struct halo_exchange *exchange,
                        const bool chosen[HALO_FACES]);
void halo_packed_destroy(struct halo_packed *packed);

/* Posts the receives, and packs and sends each face; then unpacks each face when
   it has arrived and waits for the sends. The neighbours must do the same. */
void halo_packed_start(const struct halo_exchange *exchange, struct halo_packed *packed);
void halo_packed_finish(const struct halo_exchange *exchange, struct halo_packed *packed);

#endif
