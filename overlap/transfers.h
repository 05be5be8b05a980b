/* One-sided transfers between partners: their window, which all ranks have locked
   (MPI_Win_lock_all) as long as the operation lasts. */
#pragma once

#include "overlap/pairs.h"

/* For `create`: a window of each rank's receive buffer, or of its send buffer. Collective, as
   `destroy`. */
void overlap_create_target_window(struct overlap_operation *operation);
void overlap_create_source_window(struct overlap_operation *operation);
void overlap_destroy_window(struct overlap_operation *operation);

/* For `settle`: makes visible what this rank stored, and what was put. Local. */
void overlap_sync_window(const struct overlap_operation *operation);

static inline MPI_Win overlap_window(const struct overlap_operation *operation)
{
    return *(const MPI_Win *)operation->own;
}

/* The arguments of MPI_Put and MPI_Get behind the buffer: all of the partner's window. */
#define OVERLAP_OF_PARTNER                                                                         \
    count, counts->type, operation->partner, 0, count, counts->type, overlap_window(operation)

/* Completes all transfers to the partner, also there. Local. */
static inline void overlap_flush(const struct overlap_operation *operation)
{
    BC_MPI(MPI_Win_flush(operation->partner, overlap_window(operation)));
}
