/* Faces in messages, packed into contiguous buffers: all six, or some beside another way. */
#pragma once

#include "common/large_count/large_count.h"
#include "halo/swap/methods.h"

/* All arrays are in the order of `faces`. */
struct halo_packed {
    int count; /* of faces that go so */
    int faces[HALO_FACES];
    double *sent[HALO_FACES], *received[HALO_FACES]; /* buffers */
    struct bc_amount amounts[HALO_FACES];            /* of values in each buffer */
    MPI_Request requests[2 * HALO_FACES];            /* `count` receives, then as many sends */
    MPI_Status *statuses;                            /* MPI_STATUSES_IGNORE */
};

/* Makes the buffers of the faces that are chosen; none is fine. Local. */
void halo_packed_init(struct halo_packed *packed, const struct halo_exchange *exchange,
                      const bool chosen[HALO_FACES]);
void halo_packed_free(struct halo_packed *packed);

/* Posts the receives, and packs and sends each face. Local. */
void halo_packed_start(const struct halo_exchange *exchange, struct halo_packed *packed);

/* Unpacks faces that tests of the requests have found to have arrived. Then unpacks each other face
   when it has arrived, by MPI_Waitany, so that one face is unpacked while others are on their way;
   then waits for the sends. */
void halo_packed_finish(const struct halo_exchange *exchange, struct halo_packed *packed);
