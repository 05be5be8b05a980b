/*
 * Coarrays as C programs have them: a window per rank that every rank reads and
 * writes, and the synchronisations of Fortran coarrays on top of MPI-3.
 *
 *   Fortran               here
 *   x(...)[image] = ...   bc_coarray_put
 *   ... = x(...)[image]   bc_coarray_get
 *   sync all              bc_sync_all
 *   sync images(list)     bc_sync_images
 *   sync memory           bc_sync_memory
 *   lock, unlock          bc_mutex_lock, bc_mutex_unlock
 *   critical              bc_queue_lock_acquire, bc_queue_lock_release on one of its
 *                         own
 *
 * Images are ranks, counted from 0. Data is double precision; displacements,
 * counts and strides are in doubles. A put or get is only started: what was put
 * is at its target, and what was got is here, after the next synchronisation of
 * this rank through the same coarray, and until then neither end may be touched.
 * What a rank put or stored before it synchronised with another one is seen there
 * after that, and by those that synchronise with the other one later; nothing
 * else is ordered (Fortran 2008, 8.5.2, "segments").
 *
 * Where the network can't serve a put, a get or a lock by itself, the rank that
 * it goes to does, and only while it is in an MPI call.
 *
 * Coarrays, mutexes and queue locks of communicators that have no rank in common must not be
 * created at the same time under Open MPI before 5.0: on one node it mixes up
 * their windows, or creates none (tests/mpi_defects/windows_at_once.c). One after
 * the other is right, with a barrier of all ranks in between. And its
 * MPI_Compare_and_swap crashes there (tests/mpi_defects/compare_and_swap.c), so
 * nothing here uses it.
 *
 * An error of MPI's ends the job.
 */
#ifndef COMMCOST_COMMON_MPI_COARRAY_H
#define COMMCOST_COMMON_MPI_COARRAY_H

#include <mpi.h>
#include <stdint.h>

struct bc_coarray {
    MPI_Comm comm;  /* a duplicate: no message of others' can match */
    MPI_Win window; /* in a passive epoch for all ranks, all its life */
    double *values; /* this rank's part; never NULL */
    int64_t count;  /* of it; the same on every rank */
};

/* Allocates `count` values, 0.0 each, on every rank of `comm`, in whole pages, and
   synchronises all. Collective; the count must be the same everywhere. Ends the
   job if it is negative, if there is no memory, or if the MPI library has no
   unified memory model. */
void bc_coarray_create(struct bc_coarray *coarray, MPI_Comm comm, int64_t count);

/* Completes and frees. Collective. */
void bc_coarray_destroy(struct bc_coarray *coarray);

/* The bytes of whole pages, at least one, that hold `count` values: what a window
   should have, since MPICH 4.0.2 puts what goes to a smaller one elsewhere
   (tests/mpi_defects/small_window.c). Local;
   ends the job if the count is negative or beyond any memory. */
MPI_Aint bc_window_bytes(int64_t count);

/* A strided section: `blocks` blocks of `block_values` values, their starts
   `stride_values` apart. Made once, outside of any timing. */
struct bc_section {
    MPI_Datatype type;
};

/* Local. No argument may be negative, or it ends the job; a stride below the
   block's length makes blocks overlap, which MPI forbids at the end that is
   written. */
void bc_section_create(struct bc_section *section, int64_t blocks, int64_t block_values,
                       int64_t stride_values);
/* A section of the same kind: a box of `extent` values in each direction that lies
   in an array of `array` values in each, the last direction contiguous. It starts
   at the box's first value. Local; no extent may be below 1 or above the array's,
   or it ends the job, as it does with no directions or more than
   BC_DIRECTIONS_MAX. */
void bc_section_create_box(struct bc_section *section, int directions, const int64_t *array,
                           const int64_t *extent);
/* Local; once what was started with it is complete. */
void bc_section_destroy(struct bc_section *section);

/* Starts to copy `count` values from `source` to place `displacement` of the part
   of `target`, or from there; `target` may be this rank. Local. What is copied
   must lie inside the part, which is not checked. No values, no transfer; more
   than 1 GiB goes in several. */
void bc_coarray_put(const struct bc_coarray *coarray, int target, int64_t displacement,
                    const double *source, int64_t count);
void bc_coarray_get(const struct bc_coarray *coarray, int target, int64_t displacement,
                    double *destination, int64_t count);

/* The same for a section, whose gaps are the same at both ends and are left as
   they are. */
void bc_coarray_put_section(const struct bc_coarray *coarray, int target, int64_t displacement,
                            const double *source, const struct bc_section *section);
void bc_coarray_get_section(const struct bc_coarray *coarray, int target, int64_t displacement,
                            double *destination, const struct bc_section *section);

/* Sync memory: completes this rank's outstanding transfers and waits for nobody.
   Local. */
void bc_sync_memory(const struct bc_coarray *coarray);

/* Sync all: completes this rank's outstanding transfers, and returns when all
   ranks have called it. Collective over the coarray's ranks. */
void bc_sync_all(const struct bc_coarray *coarray);

/* A set of ranks to synchronise with, the same one twice or this one counting
   once or not at all. */
struct bc_images {
    int *ranks;
    int count;
    MPI_Request *requests; /* two a rank */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */
};

/* Copies the list, of ranks of the coarray's communicator. Local; `ranks` may be
   NULL if there are none. */
void bc_images_create(struct bc_images *images, const struct bc_coarray *coarray, const int *ranks,
                      int count);
void bc_images_destroy(struct bc_images *images);

/* Sync images: completes this rank's outstanding transfers, and returns when each
   of the ranks has called it, on this coarray and with a set that has this rank,
   as often as this rank with sets that have that one: messages of no bytes there
   and back. Ranks that aren't named take no part and delay nobody. */
void bc_sync_images(const struct bc_coarray *coarray, struct bc_images *images);

/* Mutual exclusion among the ranks of a communicator, by an exclusive lock of a
   window on its rank 0: of whatever its holders do, inside windows and out. */
struct bc_mutex {
    MPI_Win window;
    double token; /* read under the lock */
};

/* Collective. */
void bc_mutex_create(struct bc_mutex *mutex, MPI_Comm comm);
void bc_mutex_destroy(struct bc_mutex *mutex);

/* Local; returns when this rank holds it and no other does. Not recursive. Neither
   completes transfers: what the next holder is to see in a coarray needs a
   bc_sync_memory before the unlock. */
void bc_mutex_lock(struct bc_mutex *mutex);
void bc_mutex_unlock(struct bc_mutex *mutex);

/* Mutual exclusion among the ranks of a communicator by atomic operations on windows:
   those who wait form a queue whose end rank 0 keeps, and each waits at its own memory
   until the one before it in the queue hands over (the "MCS lock" with swap only: J. M.
   Mellor-Crummey and M. L. Scott, "Algorithms for scalable synchronization on
   shared-memory multiprocessors", ACM Transactions on Computer Systems 9(1), 1991). An
   acquisition that finds nobody takes one swap and its release another one, both at
   rank 0; one that has to wait takes two, and is handed over by one. First come, first
   served, unless one comes while a release finds out whether it is the last. */
struct bc_queue_lock {
    MPI_Comm comm;        /* a duplicate; probed for the sake of progress */
    MPI_Win window;       /* in a passive epoch for all ranks, all its life */
    _Atomic int64_t *own; /* this rank's part */
    int rank;
    uint32_t turn; /* of this rank's acquisitions, counted from 1 */
    int64_t waits; /* how many of them had to wait */
};

/* Collective. Ends the job if the MPI library has no unified memory model. */
void bc_queue_lock_create(struct bc_queue_lock *lock, MPI_Comm comm);
void bc_queue_lock_destroy(struct bc_queue_lock *lock);

/* As bc_mutex_lock and bc_mutex_unlock. A rank that waits makes MPI calls meanwhile, so
   that it serves what others need of it. */
void bc_queue_lock_acquire(struct bc_queue_lock *lock);
void bc_queue_lock_release(struct bc_queue_lock *lock);

#endif
