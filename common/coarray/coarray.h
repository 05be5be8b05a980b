/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coarrays for C: a window that every rank can read and write on every rank, and the
 * synchronisations of Fortran coarrays, on MPI-3. After D. Henty, "A Parallel Benchmark Suite for
 * Fortran Coarrays", Applications, Tools and Techniques on the Road to Exascale Computing, IOS
 * Press, 2012 (the EPCC suite).
 *
 *     Fortran               here
 *     x(...)[image] = ...   bc_coarray_put
 *     ... = x(...)[image]   bc_coarray_get
 *     sync all              bc_sync_all
 *     sync images(list)     bc_sync_images
 *     sync memory           bc_sync_memory
 *     lock, unlock          bc_mutex_lock, bc_mutex_unlock
 *     critical              bc_queue_lock_acquire, bc_queue_lock_release
 *
 * Images are ranks, counted from 0. Data is double precision; displacements and counts are in
 * doubles. A put or get is only started: neither end may be accessed before this rank's next
 * synchronisation through the same coarray. Data that a rank put or stored before it synchronised
 * with another rank is visible there afterwards (Fortran 2008, 8.5.2, "segments").
 *
 * If the network can't serve a put, a get or a lock, its target serves it, inside MPI calls only.
 * Windows need the unified memory model.
 *
 * With Open MPI before 5.0, create coarrays, mutexes and queue locks of communicators without a
 * common rank one after the other, with a barrier of all ranks in between (docs/clusters.md).
 */
#pragma once

#include <mpi.h>
#include <stdint.h>

enum bc_coarray_sync {
    BC_SYNC_ALL,
    BC_SYNC_IMAGES, /* among neighbours, or within a pair */
    BC_SYNC_NONE,   /* no synchronisation; as the value of an option: both all and images */
    BC_SYNCS
};
extern const char *const bc_sync_names[BC_SYNCS]; /* "all", "images", "none" */

struct bc_coarray {
    MPI_Comm comm;  /* a duplicate, so that no other messages match */
    MPI_Win window; /* locked for all ranks (MPI_Win_lock_all) until it is freed */
    double *values; /* this rank's part; never NULL */
    int64_t count;  /* number of values; the same on every rank */
};

/* Allocates `count` values, all 0.0, on every rank of `comm`, in whole pages, and synchronises all
   ranks. Collective. */
void bc_coarray_create(struct bc_coarray *coarray, MPI_Comm comm, int64_t count);

/* Uses the caller's memory `values` for this rank's part: bc_window_bytes(count) bytes, maybe on a
   device, to be freed after bc_coarray_destroy. If NULL on all ranks, allocates as above. Both
   functions end the job if the MPI library lacks the unified memory model. */
void bc_coarray_create_on(struct bc_coarray *coarray, MPI_Comm comm, int64_t count, double *values);

void bc_coarray_destroy(struct bc_coarray *coarray);

/* Returns the bytes of the whole pages, at least one, that hold `count` values: MPICH 4.0.2 puts
   data for a smaller window elsewhere (docs/clusters.md). Local. */
MPI_Aint bc_window_bytes(int64_t count);

/* Allocates a window of that size, filled with zeros, whose displacements are in units of
   unit_bytes. Collective. */
MPI_Win bc_window_create(MPI_Comm comm, int64_t count, int unit_bytes, double **values);

/* Start to copy `count` elements from `source` to `displacement` in the part of `target`, or from
   there to `destination`; `target` may be this rank. The type is MPI_DOUBLE, split into transfers
   of at most 1 GiB, or, with a count of 1, a section whose gaps are the same at the source and at
   the target (bc_type_repeat, bc_type_box). Local. */
void bc_coarray_put(const struct bc_coarray *coarray, int target, int64_t displacement,
                    const double *source, int64_t count, MPI_Datatype type);
void bc_coarray_get(const struct bc_coarray *coarray, int target, int64_t displacement,
                    double *destination, int64_t count, MPI_Datatype type);

/* Completes this rank's transfers. Local. */
void bc_sync_memory(const struct bc_coarray *coarray);

/* Completes this rank's transfers and returns when all ranks have called it. Collective over the
   coarray's ranks. */
void bc_sync_all(const struct bc_coarray *coarray);

/* A set of ranks to synchronise with. */
struct bc_images {
    int *ranks;
    int count;
    MPI_Request *requests; /* two per rank */
    MPI_Status *statuses;  /* MPI_STATUSES_IGNORE */
};

/* Makes a set of ranks of the communicator; leaves out repeated ranks and this one. Local. */
void bc_images_create(struct bc_images *images, MPI_Comm comm, const int *ranks, int count);
void bc_images_destroy(struct bc_images *images);

/* Exchanges empty messages with each rank of the set, with the tag BC_IMAGES_TAG. */
enum { BC_IMAGES_TAG = 99 };
void bc_images_meet(struct bc_images *images, MPI_Comm comm);

/* Completes this rank's transfers, meets the ranks of the set, and returns when each of them has
   called it with sets that contain this rank. Other ranks take no part. */
void bc_sync_images(const struct bc_coarray *coarray, struct bc_images *images);

/* Mutual exclusion among the ranks of a communicator: an exclusive lock of a window on rank 0. */
struct bc_mutex {
    MPI_Win window;
    double token; /* read under the lock */
};

/* Collective. */
void bc_mutex_create(struct bc_mutex *mutex, MPI_Comm comm);
void bc_mutex_destroy(struct bc_mutex *mutex);

/* Not recursive. Unlocking completes no transfers: call bc_sync_memory before it. Local. */
void bc_mutex_lock(struct bc_mutex *mutex);
void bc_mutex_unlock(struct bc_mutex *mutex);

/* Mutual exclusion by atomic operations on windows: waiting ranks form a queue. Rank 0 stores its
   last entry, and each rank polls its own memory until the rank before it hands over (the "MCS
   lock" with swap only: J. M. Mellor-Crummey and M. L. Scott, "Algorithms for scalable
   synchronization on shared-memory multiprocessors", ACM Transactions on Computer Systems 9(1),
   1991). First come, first served, unless a rank comes during a release. */
struct bc_queue_lock {
    struct bc_coarray part; /* probes of its communicator make progress */
    _Atomic int64_t *own;   /* this rank's values in `part` */
    int rank;
    uint32_t turn; /* number of this rank's acquisition, from 1 */
    int64_t waits; /* number of this rank's acquisitions that had to wait */
};

/* Collective. */
void bc_queue_lock_create(struct bc_queue_lock *lock, MPI_Comm comm);
void bc_queue_lock_destroy(struct bc_queue_lock *lock);

/* As bc_mutex_lock and bc_mutex_unlock, but a waiting rank serves transfers of other ranks. */
void bc_queue_lock_acquire(struct bc_queue_lock *lock);
void bc_queue_lock_release(struct bc_queue_lock *lock);
