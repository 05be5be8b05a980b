/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/coarray/coarray.h"

#include "common/mpi/large_count.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum number of values in one transfer: 1 GiB, whose size in bytes still fits an int. */
#define TRANSFER_MAX (BC_COUNT_MAX < (1 << 27) ? (int64_t)BC_COUNT_MAX : INT64_C(1) << 27)

#define MUTEX_HOME 0 /* rank whose window a mutex locks, and that stores the end of a queue */

const char *const bc_sync_names[BC_SYNCS] = {"all", "images", "none"};

/* ---- windows --------------------------------------------------------------------------------- */

MPI_Aint bc_window_bytes(int64_t count)
{
    const MPI_Aint page = sysconf(_SC_PAGESIZE);
    const MPI_Aint bytes = (count > 0 ? count : 1) * (MPI_Aint)sizeof(double);
    return (bytes + page - 1) / page * page;
}

MPI_Win bc_window_create(MPI_Comm comm, int64_t count, int unit_bytes, double **values)
{
    const MPI_Aint bytes = bc_window_bytes(count);
    MPI_Win window;
    BC_MPI(MPI_Win_allocate(bytes, unit_bytes, MPI_INFO_NULL, comm, (void *)values, &window));
    BC_MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    memset(*values, 0, (size_t)bytes);
    return window;
}

/* Ends the job if the window lacks the unified memory model. An MPI library that doesn't report its
   model is assumed to have it. */
static void require_unified_model(MPI_Win window)
{
    int *model;
    int known;
    if (MPI_Win_get_attr(window, MPI_WIN_MODEL, (void *)&model, &known) == MPI_SUCCESS && known &&
        *model != MPI_WIN_UNIFIED)
        bc_abort("this MPI library lacks the unified memory model that coarrays need");
}

/* ---- coarrays -------------------------------------------------------------------------------- */

static MPI_Win window_on(MPI_Comm comm, int64_t count, double *values)
{
    MPI_Win window;
    BC_MPI(MPI_Win_create(values, bc_window_bytes(count), sizeof(double), MPI_INFO_NULL, comm,
                          &window));
    BC_MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    return window;
}

void bc_coarray_create(struct bc_coarray *coarray, MPI_Comm comm, int64_t count)
{
    bc_coarray_create_on(coarray, comm, count, NULL);
}

void bc_coarray_create_on(struct bc_coarray *coarray, MPI_Comm comm, int64_t count, double *values)
{
    coarray->count = count;
    coarray->values = values;
    BC_MPI(MPI_Comm_dup(comm, &coarray->comm));
    BC_MPI(MPI_Comm_set_errhandler(coarray->comm, MPI_ERRORS_RETURN));
    coarray->window = values != NULL
                          ? window_on(comm, count, values)
                          : bc_window_create(comm, count, sizeof(double), &coarray->values);
    require_unified_model(coarray->window);
    /* NOCHECK: no rank ever takes an exclusive lock of this window. */
    BC_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, coarray->window));
    bc_sync_all(coarray);
}

void bc_coarray_destroy(struct bc_coarray *coarray)
{
    BC_MPI(MPI_Win_unlock_all(coarray->window));
    BC_MPI(MPI_Win_free(&coarray->window));
    BC_MPI(MPI_Comm_free(&coarray->comm));
}

/* ---- transfers ------------------------------------------------------------------------------- */

static int next_piece(int64_t left) { return (int)(left < TRANSFER_MAX ? left : TRANSFER_MAX); }

void bc_coarray_put(const struct bc_coarray *coarray, int target, int64_t displacement,
                    const double *source, int64_t count, MPI_Datatype type)
{
    for (int64_t done = 0; done < count; done += TRANSFER_MAX) {
        const int piece = next_piece(count - done);
        BC_MPI(MPI_Put(source + done, piece, type, target, displacement + done, piece, type,
                       coarray->window));
    }
}

void bc_coarray_get(const struct bc_coarray *coarray, int target, int64_t displacement,
                    double *destination, int64_t count, MPI_Datatype type)
{
    for (int64_t done = 0; done < count; done += TRANSFER_MAX) {
        const int piece = next_piece(count - done);
        BC_MPI(MPI_Get(destination + done, piece, type, target, displacement + done, piece, type,
                       coarray->window));
    }
}

/* ---- synchronisation ------------------------------------------------------------------------- */

/* Completes this rank's stores, puts and gets. After a synchronisation with other ranks, another
   MPI_Win_sync makes their data visible to later loads. */
static void complete(const struct bc_coarray *coarray)
{
    BC_MPI(MPI_Win_sync(coarray->window));
    BC_MPI(MPI_Win_flush_all(coarray->window));
}

void bc_sync_memory(const struct bc_coarray *coarray)
{
    complete(coarray);
    BC_MPI(MPI_Win_sync(coarray->window));
}

void bc_sync_all(const struct bc_coarray *coarray)
{
    complete(coarray);
    BC_MPI(MPI_Barrier(coarray->comm));
    BC_MPI(MPI_Win_sync(coarray->window));
}

void bc_images_create(struct bc_images *images, MPI_Comm comm, const int *ranks, int count)
{
    int self;
    BC_MPI(MPI_Comm_rank(comm, &self));
    *images = (struct bc_images){
        .ranks = bc_allocate((size_t)count, sizeof(int), "no memory for %d ranks", count),
        .requests =
            bc_allocate(2 * (size_t)count, sizeof(MPI_Request), "no memory for %d ranks", count),
        .statuses = MPI_STATUSES_IGNORE,
    };
    for (int i = 0; i < count; i++) {
        bool known = ranks[i] == self;
        for (int j = 0; j < images->count; j++)
            known = known || images->ranks[j] == ranks[i];
        if (!known)
            images->ranks[images->count++] = ranks[i];
    }
}

void bc_images_destroy(struct bc_images *images)
{
    free(images->ranks);
    free(images->requests);
}

void bc_images_meet(struct bc_images *images, MPI_Comm comm)
{
    MPI_Request *request = images->requests;
    for (int i = 0; i < images->count; i++) {
        const int rank = images->ranks[i];
        BC_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, rank, BC_IMAGES_TAG, comm, request++));
        BC_MPI(MPI_Isend(NULL, 0, MPI_BYTE, rank, BC_IMAGES_TAG, comm, request++));
    }
    BC_MPI(MPI_Waitall(2 * images->count, images->requests, images->statuses));
}

void bc_sync_images(const struct bc_coarray *coarray, struct bc_images *images)
{
    complete(coarray);
    bc_images_meet(images, coarray->comm);
    BC_MPI(MPI_Win_sync(coarray->window));
}

/* ---- mutual exclusion ------------------------------------------------------------------------ */

void bc_mutex_create(struct bc_mutex *mutex, MPI_Comm comm)
{
    double *values;
    mutex->window = bc_window_create(comm, 1, sizeof(double), &values);
    /* No rank reads the zeros before they are written. */
    BC_MPI(MPI_Barrier(comm));
}

void bc_mutex_destroy(struct bc_mutex *mutex) { BC_MPI(MPI_Win_free(&mutex->window)); }

/* MPI_Win_lock may return before the lock is held, as in Open MPI's osc/pt2pt and MPICH before ch4:
   MPI promises only that accesses happen under it (MPI 3.1, 11.5.3). A get is the cheapest access;
   a flush without an access promises nothing. */
void bc_mutex_lock(struct bc_mutex *mutex)
{
    BC_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MUTEX_HOME, 0, mutex->window));
    BC_MPI(MPI_Get(&mutex->token, 1, MPI_DOUBLE, MUTEX_HOME, 0, 1, MPI_DOUBLE, mutex->window));
    BC_MPI(MPI_Win_flush(MUTEX_HOME, mutex->window));
}

void bc_mutex_unlock(struct bc_mutex *mutex) { BC_MPI(MPI_Win_unlock(MUTEX_HOME, mutex->window)); }

/* ---- mutual exclusion by a queue ------------------------------------------------------------- */

/* Indices of the values in each rank's part of the window, each on its own cache line (256 bytes on
   A64FX): constants, since all ranks must agree on them. The values start at 0 and are only swapped
   or added to. A rank may load a value while another rank changes it, but must not store one: Open
   MPI 4.1.4 writes values twice, and a zero stored in between would be lost. Turns distinguish old
   values from new ones. MPI doesn't promise that an aligned eight-byte load is atomic; libraries
   and processors with MPI_INT64_T atomics do. */
#define NOBODY 0
enum {
    NEXT = 0,     /* an entry: this rank's turn, and the rank that follows it in the queue */
    GRANTED = 32, /* how often other ranks have handed over to this rank */
    LAST = 64,    /* an entry, at MUTEX_HOME: the last rank in the queue, with its turn */
    QUEUE_VALUES = 96
};

/* An entry counts ranks from 1, so that no rank's entry is NOBODY. */
static int64_t make_entry(uint32_t turn, int rank)
{
    return (int64_t)((uint64_t)turn << 32 | ((uint32_t)rank + 1));
}

static uint32_t turn_of(int64_t entry) { return (uint32_t)((uint64_t)entry >> 32); }

static int rank_of(int64_t entry) { return (int)((uint32_t)entry - 1); }

void bc_queue_lock_create(struct bc_queue_lock *lock, MPI_Comm comm)
{
    lock->turn = 0;
    lock->waits = 0;
    BC_MPI(MPI_Comm_rank(comm, &lock->rank));
    bc_coarray_create(&lock->part, comm, QUEUE_VALUES);
    lock->own = (void *)lock->part.values;
}

void bc_queue_lock_destroy(struct bc_queue_lock *lock) { bc_coarray_destroy(&lock->part); }

/* Changes a value at a rank; returns the old value. */
static int64_t change(const struct bc_queue_lock *lock, int rank, int place, int64_t value,
                      MPI_Op how)
{
    int64_t before;
    BC_MPI(MPI_Fetch_and_op(&value, &before, MPI_INT64_T, rank, place, how, lock->part.window));
    BC_MPI(MPI_Win_flush(rank, lock->part.window));
    return before;
}

/* Makes `entry` the end of the queue; returns the old end. */
static int64_t swap_last(const struct bc_queue_lock *lock, int64_t entry)
{
    return change(lock, MUTEX_HOME, LAST, entry, MPI_REPLACE);
}

/* Tells the rank of an entry which rank follows it in the queue. */
static void tell_next(const struct bc_queue_lock *lock, int64_t entry, int next)
{
    change(lock, rank_of(entry), NEXT, make_entry(turn_of(entry), next), MPI_REPLACE);
}

static int64_t look(const struct bc_queue_lock *lock, int place)
{
    return atomic_load_explicit(&lock->own[place], memory_order_relaxed);
}

static bool has_next(const struct bc_queue_lock *lock)
{
    return turn_of(look(lock, NEXT)) == lock->turn;
}

static bool is_granted(const struct bc_queue_lock *lock)
{
    return look(lock, GRANTED) == lock->waits;
}

/* Waits until another rank has written here. Polls this rank's memory, and probes, since some
   networks write only inside MPI calls of the target. */
static void await(const struct bc_queue_lock *lock, bool (*has_come)(const struct bc_queue_lock *))
{
    int ignored;
    while (!has_come(lock)) {
        BC_MPI(
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, lock->part.comm, &ignored, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Win_sync(lock->part.window));
    }
    /* Makes the stores that precede the other rank's write visible to this rank. */
    BC_MPI(MPI_Win_sync(lock->part.window));
}

void bc_queue_lock_acquire(struct bc_queue_lock *lock)
{
    if (++lock->turn == 0) /* NEXT begins with turn 0 */
        lock->turn = 1;
    const int64_t before = swap_last(lock, make_entry(lock->turn, lock->rank));
    if (before == NOBODY) {
        BC_MPI(MPI_Win_sync(lock->part.window));
        return;
    }
    lock->waits++;
    tell_next(lock, before, lock->rank);
    await(lock, is_granted);
}

/* Algorithm 6 of the paper (coarray.h), without compare-and-swap: MPI forbids mixing it with other
   operations on a value (MPI 3.1, 11.2.1), and it crashes in Open MPI 4.1 (docs/clusters.md). */
void bc_queue_lock_release(struct bc_queue_lock *lock)
{
    /* The paper's term: the last of the ranks that came while LAST was NOBODY. */
    int64_t usurper = NOBODY;
    BC_MPI(MPI_Win_sync(lock->part.window));
    if (!has_next(lock)) {
        const int64_t last = swap_last(lock, NOBODY);
        if (last == make_entry(lock->turn, lock->rank))
            return;
        /* Other ranks have queued: puts the end of their queue back. If ranks came in between, the
           first of them found NOBODY and holds the lock; the queue follows the last of them. */
        usurper = swap_last(lock, last);
    }
    await(lock, has_next);
    const int next = rank_of(look(lock, NEXT));
    if (usurper == NOBODY)
        change(lock, next, GRANTED, 1, MPI_SUM);
    else
        tell_next(lock, usurper, next);
}
