#include "common/coarray.h"

#include "common/large_count.h"
#include "common/mpi_check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Values in one transfer, at most: 1 GiB, whose bytes an int still counts. */
#define TRANSFER_MAX                                                           \
    (BC_COUNT_MAX < (1 << 27) ? (int64_t)BC_COUNT_MAX : INT64_C(1) << 27)
_Static_assert(TRANSFER_MAX <= BC_COUNT_MAX, "a transfer has a count of MPI's");

#define MUTEX_HOME 0 /* the rank whose window is locked, and that has a queue's end */

/* ---- windows ------------------------------------------------------------------ */

MPI_Aint bc_window_bytes(int64_t count)
{
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t value = (int64_t)sizeof(double);
    if (count < 0 || count > (PTRDIFF_MAX - page) / value)
        bc_abort("no memory for a window of %lld values", (long long)count);
    const int64_t pages = (count * value + page - 1) / page;
    return (MPI_Aint)((pages > 0 ? pages : 1) * page);
}

/* Of zeros. Collective. */
static MPI_Win allocate_window(MPI_Comm comm, int64_t count, double **values)
{
    const MPI_Aint bytes = bc_window_bytes(count);
    MPI_Win window;
    BC_MPI(MPI_Win_allocate(bytes, (int)sizeof(double), MPI_INFO_NULL, comm,
                            (void *)values, &window));
    BC_MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    memset(*values, 0, (size_t)bytes);
    return window;
}

/* In the separate model a rank must not store into its part while another one
   puts anywhere into it, which is what coarrays are for. A library that can't tell
   its model (SMPI 3.32) is taken to have the unified one. */
static void require_unified_model(MPI_Win window)
{
    int *model;
    int known;
    if (MPI_Win_get_attr(window, MPI_WIN_MODEL, (void *)&model, &known) ==
            MPI_SUCCESS &&
        known && *model != MPI_WIN_UNIFIED)
        bc_abort("this MPI library lacks the unified memory model that "
                 "coarrays need");
}

/* ---- coarrays ----------------------------------------------------------------- */

void bc_coarray_create(struct bc_coarray *coarray, MPI_Comm comm, int64_t count)
{
    coarray->count = count;
    BC_MPI(MPI_Comm_dup(comm, &coarray->comm));
    BC_MPI(MPI_Comm_set_errhandler(coarray->comm, MPI_ERRORS_RETURN));
    coarray->window = allocate_window(comm, count, &coarray->values);
    require_unified_model(coarray->window);
    /* No rank ever locks this window alone. */
    BC_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, coarray->window));
    bc_sync_all(coarray);
}

void bc_coarray_destroy(struct bc_coarray *coarray)
{
    BC_MPI(MPI_Win_unlock_all(coarray->window));
    BC_MPI(MPI_Win_free(&coarray->window));
    BC_MPI(MPI_Comm_free(&coarray->comm));
    coarray->values = NULL;
}

/* ---- sections ----------------------------------------------------------------- */

static MPI_Datatype strided(int64_t blocks, int64_t block_values,
                            int64_t stride_values)
{
    const MPI_Aint value_bytes = (MPI_Aint)sizeof(double);
    MPI_Datatype type;
    if (bc_is_count(blocks) && bc_is_count(block_values) &&
        bc_is_count(stride_values)) {
        BC_MPI(MPI_Type_vector(bc_as_count(blocks), bc_as_count(block_values),
                               bc_as_count(stride_values), MPI_DOUBLE, &type));
        return type;
    }
    MPI_Datatype block = bc_type_repeat(block_values, value_bytes, MPI_DOUBLE);
    type = bc_type_repeat(blocks, stride_values * value_bytes, block);
    BC_MPI(MPI_Type_free(&block));
    return type;
}

void bc_section_create(struct bc_section *section, int64_t blocks,
                       int64_t block_values, int64_t stride_values)
{
    if (blocks < 0 || block_values < 0 || stride_values < 0)
        bc_abort("no section can have %lld blocks of %lld values, %lld apart",
                 (long long)blocks, (long long)block_values,
                 (long long)stride_values);
    section->type = strided(blocks, block_values, stride_values);
    BC_MPI(MPI_Type_commit(&section->type));
}

void bc_section_create_box(struct bc_section *section, int directions,
                           const int64_t *array, const int64_t *extent)
{
    static const int64_t origin[BC_DIRECTIONS_MAX];
    for (int d = 0; d < directions; d++)
        if (extent[d] < 1 || extent[d] > array[d])
            bc_abort("no section can have %lld of %lld values",
                     (long long)extent[d], (long long)array[d]);
    section->type =
        bc_type_box(directions, array, extent, origin, MPI_DOUBLE);
}

void bc_section_destroy(struct bc_section *section)
{
    BC_MPI(MPI_Type_free(&section->type));
}

/* ---- transfers ---------------------------------------------------------------- */

static int next_piece(int64_t count)
{
    return (int)(count < TRANSFER_MAX ? count : TRANSFER_MAX);
}

void bc_coarray_put(const struct bc_coarray *coarray, int target,
                    int64_t displacement, const double *source, int64_t count)
{
    while (count > 0) {
        const int piece = next_piece(count);
        BC_MPI(MPI_Put(source, piece, MPI_DOUBLE, target,
                       (MPI_Aint)displacement, piece, MPI_DOUBLE,
                       coarray->window));
        source += piece;
        displacement += piece;
        count -= piece;
    }
}

void bc_coarray_get(const struct bc_coarray *coarray, int target,
                    int64_t displacement, double *destination, int64_t count)
{
    while (count > 0) {
        const int piece = next_piece(count);
        BC_MPI(MPI_Get(destination, piece, MPI_DOUBLE, target,
                       (MPI_Aint)displacement, piece, MPI_DOUBLE,
                       coarray->window));
        destination += piece;
        displacement += piece;
        count -= piece;
    }
}

void bc_coarray_put_section(const struct bc_coarray *coarray, int target,
                            int64_t displacement, const double *source,
                            const struct bc_section *section)
{
    BC_MPI(MPI_Put(source, 1, section->type, target, (MPI_Aint)displacement, 1,
                   section->type, coarray->window));
}

void bc_coarray_get_section(const struct bc_coarray *coarray, int target,
                            int64_t displacement, double *destination,
                            const struct bc_section *section)
{
    BC_MPI(MPI_Get(destination, 1, section->type, target,
                   (MPI_Aint)displacement, 1, section->type, coarray->window));
}

/* ---- synchronisation ---------------------------------------------------------- */

/* What this rank stored, put and got is where it belongs. */
static void complete(const struct bc_coarray *coarray)
{
    BC_MPI(MPI_Win_sync(coarray->window));
    BC_MPI(MPI_Win_flush_all(coarray->window));
}

/* What is in this rank's part is what its loads will see. */
static void look_afresh(const struct bc_coarray *coarray)
{
    BC_MPI(MPI_Win_sync(coarray->window));
}

void bc_sync_memory(const struct bc_coarray *coarray)
{
    complete(coarray);
    look_afresh(coarray);
}

void bc_sync_all(const struct bc_coarray *coarray)
{
    complete(coarray);
    BC_MPI(MPI_Barrier(coarray->comm));
    look_afresh(coarray);
}

static bool has(const struct bc_images *images, int rank)
{
    for (int i = 0; i < images->count; i++)
        if (images->ranks[i] == rank)
            return true;
    return false;
}

void bc_images_create(struct bc_images *images, const struct bc_coarray *coarray,
                      const int *ranks, int count)
{
    const size_t room = (size_t)count + 1; /* none of nothing is not NULL */
    int self;
    BC_MPI(MPI_Comm_rank(coarray->comm, &self));
    *images = (struct bc_images){
        .ranks = calloc(room, sizeof *images->ranks),
        .requests = calloc(2 * room, sizeof(MPI_Request)),
        .statuses = MPI_STATUSES_IGNORE,
    };
    if (images->ranks == NULL || images->requests == NULL)
        bc_abort("no memory for a set of %d ranks", count);
    for (int i = 0; i < count; i++)
        if (ranks[i] != self && !has(images, ranks[i]))
            images->ranks[images->count++] = ranks[i];
}

void bc_images_destroy(struct bc_images *images)
{
    free(images->ranks);
    free(images->requests);
    *images = (struct bc_images){.count = 0};
}

void bc_sync_images(const struct bc_coarray *coarray, struct bc_images *images)
{
    MPI_Request *request = images->requests;
    complete(coarray);
    for (int i = 0; i < images->count; i++) {
        const int rank = images->ranks[i];
        BC_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, rank, 0, coarray->comm, request++));
        BC_MPI(MPI_Isend(NULL, 0, MPI_BYTE, rank, 0, coarray->comm, request++));
    }
    BC_MPI(MPI_Waitall(2 * images->count, images->requests, images->statuses));
    look_afresh(coarray);
}

/* ---- mutual exclusion --------------------------------------------------------- */

void bc_mutex_create(struct bc_mutex *mutex, MPI_Comm comm)
{
    double *values;
    mutex->window = allocate_window(comm, 1, &values);
    /* The zeros are there before any rank reads them. */
    BC_MPI(MPI_Barrier(comm));
}

void bc_mutex_destroy(struct bc_mutex *mutex)
{
    BC_MPI(MPI_Win_free(&mutex->window));
}

/* MPI_Win_lock may return before the lock is held: MPI only promises that accesses
   to the window happen under it (MPI 3.1, 11.5.3), and Open MPI's osc/pt2pt and
   MPICH before ch4 do just that. So one is made and awaited; a flush alone has
   nothing to complete and would promise nothing. Of the accesses a get is the
   cheapest. */
void bc_mutex_lock(struct bc_mutex *mutex)
{
    BC_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MUTEX_HOME, 0, mutex->window));
    BC_MPI(MPI_Get(&mutex->token, 1, MPI_DOUBLE, MUTEX_HOME, 0, 1, MPI_DOUBLE,
                   mutex->window));
    BC_MPI(MPI_Win_flush(MUTEX_HOME, mutex->window));
}

void bc_mutex_unlock(struct bc_mutex *mutex)
{
    BC_MPI(MPI_Win_unlock(MUTEX_HOME, mutex->window));
}

/* ---- mutual exclusion by a queue ------------------------------------------------ */

/* What each rank's part of the window has, a cache line apart: what one rank waits at
   isn't disturbed by what others do.

   The part begins with zeros and is only ever swapped or added to. It may be loaded while
   another rank does that, but not stored to: a library may write a value twice (4.1.4 of
   Open MPI does, by the C library's copy of eight bytes), and a zero in between is lost. So
   nothing is cleared, and what is old is told from what is new by its turn. MPI doesn't say
   that an aligned eight-byte load sees a value whole; libraries and processors that have
   MPI_INT64_T atomics do. */
#define NOBODY 0
enum {
    NEXT = 0,    /* an entry: this rank's turn, and who comes after it in the queue */
    GRANTED = 8, /* how often others have handed over to this rank */
    LAST = 16,   /* an entry, at MUTEX_HOME: who is last in the queue, in which turn of its */
    QUEUE_VALUES = 24
};

/* Ranks are counted from 1, so that none is nobody. */
static int64_t make_entry(uint32_t turn, int rank)
{
    return (int64_t)((uint64_t)turn << 32 | ((uint32_t)rank + 1));
}

static uint32_t turn_of(int64_t entry)
{
    return (uint32_t)((uint64_t)entry >> 32);
}

static int rank_of(int64_t entry)
{
    return (int)((uint32_t)entry - 1);
}

void bc_queue_lock_create(struct bc_queue_lock *lock, MPI_Comm comm)
{
    double *values;
    lock->turn = 0;
    lock->waits = 0;
    BC_MPI(MPI_Comm_rank(comm, &lock->rank));
    BC_MPI(MPI_Comm_dup(comm, &lock->comm));
    BC_MPI(MPI_Comm_set_errhandler(lock->comm, MPI_ERRORS_RETURN));
    lock->window = allocate_window(comm, QUEUE_VALUES, &values);
    lock->own = (void *)values;
    require_unified_model(lock->window);
    /* No rank ever locks this window alone. */
    BC_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, lock->window));
    BC_MPI(MPI_Win_sync(lock->window));
    BC_MPI(MPI_Barrier(lock->comm));
}

void bc_queue_lock_destroy(struct bc_queue_lock *lock)
{
    BC_MPI(MPI_Win_unlock_all(lock->window));
    BC_MPI(MPI_Win_free(&lock->window));
    BC_MPI(MPI_Comm_free(&lock->comm));
}

/* Changes a value at a rank, and returns the one before. */
static int64_t change(const struct bc_queue_lock *lock, int rank, int place,
                      int64_t value, MPI_Op how)
{
    int64_t before;
    BC_MPI(MPI_Fetch_and_op(&value, &before, MPI_INT64_T, rank, place, how,
                            lock->window));
    BC_MPI(MPI_Win_flush(rank, lock->window));
    return before;
}

static int64_t swap_last(const struct bc_queue_lock *lock, int64_t entry)
{
    return change(lock, MUTEX_HOME, LAST, entry, MPI_REPLACE);
}

/* Tells the one that an entry is of who comes after it. */
static void tell_next(const struct bc_queue_lock *lock, int64_t entry, int next)
{
    change(lock, rank_of(entry), NEXT, make_entry(turn_of(entry), next),
           MPI_REPLACE);
}

/* What is in this rank's memory: MPI_Win_sync orders it. */
static int64_t look(const struct bc_queue_lock *lock, int place)
{
    return atomic_load_explicit(&lock->own[place], memory_order_relaxed);
}

/* Whether it is known who comes after this rank. */
static bool has_next(const struct bc_queue_lock *lock)
{
    return turn_of(look(lock, NEXT)) == lock->turn;
}

static bool is_granted(const struct bc_queue_lock *lock)
{
    return look(lock, GRANTED) == lock->waits;
}

/* Waits for what another rank writes here. The memory is read by itself, which costs no
   one else anything; but where the network doesn't write by itself this rank has to be in
   MPI calls, as the probe is. */
static void await(const struct bc_queue_lock *lock,
                  bool (*has_come)(const struct bc_queue_lock *))
{
    int ignored;
    while (!has_come(lock)) {
        BC_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, lock->comm, &ignored,
                          MPI_STATUS_IGNORE));
        BC_MPI(MPI_Win_sync(lock->window));
    }
    /* What the other rank stored before it wrote that is seen from here on. */
    BC_MPI(MPI_Win_sync(lock->window));
}

void bc_queue_lock_acquire(struct bc_queue_lock *lock)
{
    if (++lock->turn == 0) /* NEXT begins with turn 0 */
        lock->turn = 1;
    const int64_t before = swap_last(lock, make_entry(lock->turn, lock->rank));
    if (before == NOBODY) {
        BC_MPI(MPI_Win_sync(lock->window));
        return;
    }
    lock->waits++;
    tell_next(lock, before, lock->rank);
    await(lock, is_granted);
}

/* The paper's release without compare-and-swap (its algorithm 6): that may not be mixed
   with another operation on the same place unless a window's accumulate_ops said so,
   which has no value for it (MPI 3.1, 11.2.1), and it crashes in Open MPI 4.1
   (tests/mpi_defects/compare_and_swap.c). */
void bc_queue_lock_release(struct bc_queue_lock *lock)
{
    int64_t usurper = NOBODY; /* the paper's word: the last of those who came while LAST
                                 said nobody */
    BC_MPI(MPI_Win_sync(lock->window));
    if (!has_next(lock)) {
        const int64_t last = swap_last(lock, NOBODY);
        if (last == make_entry(lock->turn, lock->rank))
            return;
        /* Others have come, whose queue is put back. Who came in between found nobody
           and holds the lock, and they wait for the last of these. */
        usurper = swap_last(lock, last);
    }
    await(lock, has_next);
    const int next = rank_of(look(lock, NEXT));
    if (usurper == NOBODY)
        change(lock, next, GRANTED, 1, MPI_SUM);
    else
        tell_next(lock, usurper, next);
}
