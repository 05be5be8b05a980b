/*
 * One rank's part in halo swaps of one box by one method: what all methods know,
 * and what a method keeps for itself.
 */
#ifndef COMMCOST_HALO_EXCHANGE_H
#define COMMCOST_HALO_EXCHANGE_H

#include "halo/box.h"
#include "halo/grid.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct halo_exchange {
    struct halo_box box; /* the same on every rank */
    struct halo_grid grid;
    MPI_Comm comm;      /* Cartesian and periodic, with the grid's ranks */
    MPI_Comm node_comm; /* the ranks of this node */
    struct halo_region sent[HALO_FACES];
    struct halo_region received[HALO_FACES];

    /* The method's: made by its create. */
    double *values; /* the array, halo included */
    void *own;
};

/* All but the method's part. Local; the communicators stay the caller's. */
void halo_exchange_init(struct halo_exchange *exchange, const struct halo_box *box,
                        const struct halo_grid *grid, MPI_Comm comm, MPI_Comm node_comm);

/* So many values in ordinary memory, at the start of a page as in a window, and touched; freed by
   free(). And zeroed memory of so many bytes. Local; end the job if there is none. */
double *halo_allocate_values(int64_t count);
void *halo_allocate(size_t bytes);

#endif
