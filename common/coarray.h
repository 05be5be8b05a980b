/*
 * Coarrays as C programs have them: a window per rank that every rank reads and
 * writes, and the synchronisations of Fortran coarrays on top of MPI-3.
 *
 *   Fortran               here
 *   x(...)[image] = ...   bc_coarray_put
 *   ... = x(...)[image]   bc_coarray_get
 *   sync all              bc_sync_all
 *   sync images(list)     bc_sync_images
 *   lock, unlock          bc_mutex_lock, bc_mutex_unlock
 *   critical              bc_mutex_lock, bc_mutex_unlock on one of its own
 *
 * Images are ranks, counted from 0. Data is double precision; displacements,
 * counts and strides are in doubles. A put or get is only started: what was put
 * is at its target, and what was got is here, after the next synchronisation of
 * this rank, and until then neither end may be touched. What a rank put before it
 * synchronised with another one is seen there after that; nothing else is
 * ordered (Fortran 2008, 8.5.2, "segments").
 */
#ifndef COMMCOST_COMMON_COARRAY_H
#define COMMCOST_COMMON_COARRAY_H

#include <mpi.h>
#include <stdint.h>

struct bc_coarray {
    MPI_Comm comm;  /* of the ranks that have it */
    MPI_Win window; /* in a passive epoch for all ranks, all its life */
    double *values; /* this rank's part */
    int64_t count;  /* of it; the same on every rank */
};

/* Allocates `count` values, 0.0 each, on every rank of `comm`, which must outlive
   the coarray. Collective; the count must be the same everywhere. Ends the job if
   there is no memory. */
void bc_coarray_create(struct bc_coarray *coarray, MPI_Comm comm, int64_t count);

/* Completes and frees. Collective. */
void bc_coarray_destroy(struct bc_coarray *coarray);

/* A strided section: `blocks` blocks of `block_values` values, their starts
   `stride_values` apart. Made once, outside of any timing. */
struct bc_section {
    MPI_Datatype type;
};

void bc_section_create(struct bc_section *section, int64_t blocks,
                       int64_t block_values, int64_t stride_values);
void bc_section_destroy(struct bc_section *section);

/* Starts to copy `count` values from `source` to place `displacement` of the part
   of `target`, or from there; `target` may be this rank. Local. A count beyond
   what MPI's int counts hold goes in several transfers. */
void bc_coarray_put(const struct bc_coarray *coarray, int target,
                    int64_t displacement, const double *source, int64_t count);
void bc_coarray_get(const struct bc_coarray *coarray, int target,
                    int64_t displacement, double *destination, int64_t count);

/* The same for a section, whose gaps are the same at both ends and are left as
   they are. */
void bc_coarray_put_section(const struct bc_coarray *coarray, int target,
                            int64_t displacement, const double *source,
                            const struct bc_section *section);
void bc_coarray_get_section(const struct bc_coarray *coarray, int target,
                            int64_t displacement, double *destination,
                            const struct bc_section *section);

/* Sync all: completes this rank's outstanding transfers, and returns when all
   ranks have called it. Collective over the coarray's communicator. */
void bc_sync_all(const struct bc_coarray *coarray);

/* A set of ranks to synchronise with, the same one twice or this one counting
   once or not at all. */
struct bc_images {
    int *ranks;
    int count;
    MPI_Request *requests; /* two a rank */
};

/* Copies the list. Local. */
void bc_images_create(struct bc_images *images, const struct bc_coarray *coarray,
                      const int *ranks, int count);
void bc_images_destroy(struct bc_images *images);

/* Sync images: completes this rank's outstanding transfers, and returns when each
   of the ranks has called it as often, with this rank in its set, as this rank
   with that one: messages of no bytes there and back. Ranks that aren't named take no
   part and delay nobody. */
void bc_sync_images(const struct bc_coarray *coarray, struct bc_images *images);

/* Mutual exclusion among the ranks of a communicator, by an exclusive lock of a
   window on its rank 0. */
struct bc_mutex {
    MPI_Win window;
};

/* Collective; `comm` must outlive the mutex. */
void bc_mutex_create(struct bc_mutex *mutex, MPI_Comm comm);
void bc_mutex_destroy(struct bc_mutex *mutex);

/* Local; returns when no other rank holds it. Not recursive. */
void bc_mutex_lock(struct bc_mutex *mutex);
void bc_mutex_unlock(struct bc_mutex *mutex);

#endif
