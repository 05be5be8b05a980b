#include "common/coarray.h"

#include "common/large_count.h"
#include "common/mpi_check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Values in one transfer, at most: 1 GiB, whose bytes an int still counts. */
#define TRANSFER_MAX                                                           \
    (BC_COUNT_MAX < (1 << 27) ? (int64_t)BC_COUNT_MAX : INT64_C(1) << 27)
_Static_assert(TRANSFER_MAX <= BC_COUNT_MAX, "a transfer has a count of MPI's");

#define MUTEX_HOME 0 /* the rank whose window is locked */

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
