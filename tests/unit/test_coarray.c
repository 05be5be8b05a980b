/*
 * The coarray layer. For 2 to RANKS_MAX ranks of one node.
 *
 * A library may do better than MPI promises: most copy at once inside a node and wait for a lock in
 * the call that asks for it, so code that forgets to complete something is right by luck. So some
 * tests run a second time under a late MPI: the wrappers below put off each transfer and each lock
 * as long as the standard lets them.
 *
 * With more ranks than processors every wait in an MPI library that polls costs a turn of the
 * scheduler's or several: a barrier of 8 ranks on 2 processors takes 40 ms under MPICH, and making
 * a window 400 ms. So most tests share one coarray and one lock of either kind, they repeat as
 * often as there is time, and where they wait for each other outside of what they test, they sleep.
 */
#include "ranks.h"

#include "common/mpi/coarray.h"
#include "common/mpi/mpi_check.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX 8
#define PAGE_VALUES 512
#define LENGTH(array) ((int)COUNT(array))

/* ---- what the ranks share without MPI -------------------------------------------------------- */

struct page {
    atomic_int late[RANKS_MAX];             /* the last turn this rank slept in */
    atomic_int calls[RANKS_MAX][RANKS_MAX]; /* syncs begun, by whom, with whom */
    atomic_int holders, overlaps;
    atomic_int swapping; /* 1: a rank is, in the MPI that writes twice */
    atomic_long total;   /* loaded and stored: no atomic addition */
};

static struct page *shared;

static void map_shared_page(void)
{
    char name[] = "/tmp/test_coarray_XXXXXX";
    int file = -1;
    if (rank == 0) {
        file = mkstemp(name);
        if (file < 0 || ftruncate(file, sizeof *shared) != 0)
            bc_abort("no temporary file");
    }
    BC_MPI(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank != 0)
        file = open(name, O_RDWR | O_CLOEXEC);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || shared == MAP_FAILED)
        bc_abort("can't map the temporary file");
    close(file);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(name);
}

/* Returns when all ranks have called it, and leaves the processors to those that
   haven't. Collective. */
static void meet(void)
{
    MPI_Request request;
    int all_here;
    BC_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    BC_MPI(MPI_Test(&request, &all_here, MPI_STATUS_IGNORE));
    while (!all_here) {
        sleep_s(100e-6);
        BC_MPI(MPI_Test(&request, &all_here, MPI_STATUS_IGNORE));
    }
}

/* In each turn of a test one rank or some come late. All count their turns alike,
   so that nothing has to be cleared between them. */
static int turn;

/* Comes late, and leaves word that it did. */
static void dawdle(double seconds)
{
    sleep_s(seconds);
    atomic_store(&shared->late[rank], turn);
}

static bool has_come(int late_rank) { return atomic_load(&shared->late[late_rank]) >= turn; }

/* ---- the late MPI ---------------------------------------------------------------------------- */

static enum mode {
    LIBRARY, /* as it is */
    LATE,    /* transfers at the flush, locks at the first transfer or unlock */
    RECORD,  /* no transfers at all */
    BROKEN,  /* atomic operations don't reach other ranks: each has values of its own */
    TWICE,   /* what a swap writes it writes again a while later, before any other one */
} mode;

struct transfer {
    enum { PUT, GET, FETCH } kind;
    const void *origin;
    void *destination;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    int target;
    MPI_Aint displacement;
    MPI_Win window;
};

#define TRANSFERS_MAX 1024
static struct transfer transfers[TRANSFERS_MAX]; /* begun, not yet made */
static int transfer_count;

static struct late_lock {
    bool pending;
    int type, target, assert;
    MPI_Win window;
} late_lock;

static int make(const struct transfer *t)
{
    switch (t->kind) {
    case PUT:
        return PMPI_Put(t->origin, t->count, t->type, t->target, t->displacement, t->count, t->type,
                        t->window);
    case GET:
        return PMPI_Get(t->destination, t->count, t->type, t->target, t->displacement, t->count,
                        t->type, t->window);
    case FETCH:
    default:
        return PMPI_Fetch_and_op(t->origin, t->destination, t->type, t->target, t->displacement,
                                 t->op, t->window);
    }
}

static int begin(const struct transfer *transfer)
{
    if (mode == LIBRARY || mode == BROKEN || mode == TWICE)
        return make(transfer);
    if (transfer_count == TRANSFERS_MAX)
        bc_abort("more transfers than the late MPI holds");
    transfers[transfer_count++] = *transfer;
    return MPI_SUCCESS;
}

static bool lock_is_late(MPI_Win window) { return late_lock.pending && late_lock.window == window; }

static void take_late_lock(MPI_Win window)
{
    if (!lock_is_late(window))
        return;
    late_lock.pending = false;
    BC_MPI(PMPI_Win_lock(late_lock.type, late_lock.target, late_lock.assert, window));
}

/* Every fourth time it takes so long that whoever doesn't wait for it is seen not to. */
static void make_transfers(MPI_Win window)
{
    static int times;
    int kept = 0;
    if (mode == LATE && transfer_count > 0 && (times++ + rank) % 4 == 0)
        sleep_s(500e-6);
    for (int i = 0; i < transfer_count; i++) {
        if (transfers[i].window != window) {
            transfers[kept++] = transfers[i];
            continue;
        }
        take_late_lock(window);
        BC_MPI(make(&transfers[i]));
    }
    transfer_count = kept;
}

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint displacement,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    return begin(&(struct transfer){PUT, origin, NULL, count, type, MPI_OP_NULL, target,
                                    displacement, window});
}

int MPI_Get(void *destination, int count, MPI_Datatype type, int target, MPI_Aint displacement,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    return begin(&(struct transfer){GET, NULL, destination, count, type, MPI_OP_NULL, target,
                                    displacement, window});
}

/* Who waits for its turn serves the others meanwhile. */
static void swap_twice(const struct transfer *t)
{
    int ignored;
    while (atomic_exchange(&shared->swapping, 1) != 0)
        BC_MPI(
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ignored, MPI_STATUS_IGNORE));
    BC_MPI(make(t));
    BC_MPI(PMPI_Win_flush(t->target, t->window));
    if (t->op == MPI_REPLACE && t->target != rank) {
        sleep_s(200e-6);
        BC_MPI(PMPI_Accumulate(t->origin, 1, t->type, t->target, t->displacement, 1, t->type,
                               MPI_REPLACE, t->window));
        BC_MPI(PMPI_Win_flush(t->target, t->window));
    }
    atomic_store(&shared->swapping, 0);
}

int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target,
                     MPI_Aint displacement, MPI_Op op, MPI_Win window)
{
    if (mode == BROKEN) {
        static int64_t alone[PAGE_VALUES]; /* by displacement */
        memcpy(result, &alone[displacement], sizeof *alone);
        memcpy(&alone[displacement], origin, sizeof *alone);
        return MPI_SUCCESS;
    }
    const struct transfer transfer = {FETCH, origin, result,       1,     type,
                                      op,    target, displacement, window};
    if (mode != TWICE)
        return begin(&transfer);
    swap_twice(&transfer);
    return MPI_SUCCESS;
}

int MPI_Win_flush(int target, MPI_Win window)
{
    make_transfers(window);
    return lock_is_late(window) ? MPI_SUCCESS : PMPI_Win_flush(target, window);
}

int MPI_Win_flush_all(MPI_Win window)
{
    make_transfers(window);
    return PMPI_Win_flush_all(window);
}

int MPI_Win_lock(int type, int target, int assert, MPI_Win window)
{
    if (mode != LATE)
        return PMPI_Win_lock(type, target, assert, window);
    late_lock = (struct late_lock){true, type, target, assert, window};
    return MPI_SUCCESS;
}

int MPI_Win_unlock(int target, MPI_Win window)
{
    make_transfers(window);
    take_late_lock(window);
    return PMPI_Win_unlock(target, window);
}

int MPI_Win_unlock_all(MPI_Win window)
{
    make_transfers(window);
    return PMPI_Win_unlock_all(window);
}

/* Whether this rank is the last to come back from making a window. */
static bool slow_to_allocate;

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                     MPI_Win *window)
{
    const int code = PMPI_Win_allocate(size, unit, info, comm, base, window);
    if (slow_to_allocate)
        sleep_s(2e-3);
    return code;
}

/* ---- values ---------------------------------------------------------------------------------- */

#define UNTOUCHED (-1.0) /* in a window or a buffer that is written to */
#define GAP (-2.0)       /* in one that is read, where no block is */

/* Differs for each pair of ranks and each place, and is exact. */
static double value_of(int origin, int target, int64_t index)
{
    return (double)((origin * RANKS_MAX + target + 1) * INT64_C(1000000) + index);
}

static double *new_values(int64_t count, double value)
{
    double *const values = malloc(((size_t)count + 1) * sizeof *values);
    if (values == NULL)
        bc_abort("no memory");
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
    return values;
}

static void fill(double *values, int64_t count, double value)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
}

static int64_t count_differences(const double *a, const double *b, int64_t count)
{
    int64_t differences = 0;
    for (int64_t i = 0; i < count; i++)
        differences += a[i] != b[i];
    return differences;
}

/* ---- what most tests use --------------------------------------------------------------------- */

static struct bc_coarray world; /* of all ranks */

/* Both kinds of mutual exclusion. */
struct locks {
    struct bc_mutex mutex;
    struct bc_queue_lock queue_lock;
};

static struct locks locks;

/* Gives the first values of this rank's part, when no test uses them any more:
   what tests before have put is gone. Collective. */
static void close_world(int64_t count, double value)
{
    meet();
    fill(world.values, count, value);
}

/* What this rank has stored in its part is what others get. Collective. */
static void open_world(void)
{
    BC_MPI(MPI_Win_sync(world.window));
    meet();
    BC_MPI(MPI_Win_sync(world.window));
}

static void clear_world(int64_t count, double value)
{
    close_world(count, value);
    open_world();
}

/* What a synchronisation takes; 0 if each rank has a processor of its own. */
static double barrier_ms;

/* Collective. */
static void time_barrier(void)
{
    struct timespec start, end;
    const int times = 5;
    if (ranks <= sysconf(_SC_NPROCESSORS_ONLN))
        return;
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < times; i++)
        BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    clock_gettime(CLOCK_MONOTONIC, &end);
    barrier_ms =
        (1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec)) /
        times;
    BC_MPI(MPI_Bcast(&barrier_ms, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
}

#define REPETITIONS_MS 30.0

/* As many as there is time for. */
static int repetitions(int min, int max)
{
    if (barrier_ms * max <= REPETITIONS_MS)
        return max;
    const int times = (int)(REPETITIONS_MS / barrier_ms);
    return times < min ? min : times;
}

/* ---- where transfers land -------------------------------------------------------------------- */

/* What every rank puts to every rank, or gets from it; a contiguous transfer is
   one block. Each pair has a slot of its own with margins around what moves. */
struct shape {
    int64_t blocks, block, stride;
};

static const struct shape contiguous[] = {
    {1, 0, 0},     {1, 1, 1},     {1, 2, 2},     {1, 3, 3},       {1, 17, 17},
    {1, 511, 511}, {1, 512, 512}, {1, 513, 513}, {1, 2500, 2500}, {1, 70000, 70000},
};

static const struct shape sections[] = {
    {0, 1, 1},   {3, 0, 2},     {1, 1, 1},     {4, 1, 2},    {5, 3, 7},    {7, 2, 2},
    {100, 1, 9}, {33, 17, 129}, {3, 600, 700}, {2, 1, 5000}, {5000, 1, 2},
};

#define MARGIN 5

static int64_t extent_of(const struct shape *shape)
{
    return shape->blocks == 0 ? 0 : (shape->blocks - 1) * shape->stride + shape->block;
}

static int64_t slot_of(const struct shape *shape) { return extent_of(shape) + 2 * MARGIN + 1; }

/* Where the transfer begins in the slot of a pair: at odd places, too. */
static int64_t start_in_slot(int origin, int target) { return MARGIN + (origin + target) % 2; }

/* Writes what one end of a transfer has, or is to have. */
static void write_blocks(double *values, const struct shape *shape, int origin, int target)
{
    for (int64_t b = 0; b < shape->blocks; b++)
        for (int64_t i = 0; i < shape->block; i++)
            values[b * shape->stride + i] = value_of(origin, target, b * shape->stride + i);
}

/* Both ends of the transfers between this rank and each other one: the buffer
   here, and this rank's part of the coarray. */
static void write_buffer(double *values, const struct shape *shape)
{
    for (int peer = 0; peer < ranks; peer++)
        write_blocks(values + slot_of(shape) * peer + MARGIN, shape, rank, peer);
}

static void write_part(double *values, const struct shape *shape)
{
    for (int peer = 0; peer < ranks; peer++)
        write_blocks(values + slot_of(shape) * peer + start_in_slot(peer, rank), shape, peer, rank);
}

/* A set of shapes that all move at once, in places of their own. */
struct traffic {
    const struct shape *shapes;
    int count;
    bool sections, put;
};

#define SHAPES_MAX 16

static int64_t values_of(const struct shape *shapes, int count)
{
    int64_t values = 0;
    for (int s = 0; s < count; s++)
        values += slot_of(&shapes[s]) * ranks;
    return values;
}

enum { SECTION = -1 };

/* Begins a put or a get of `count` values, or of a section. */
static void begin_transfer(bool put, int peer, int64_t there, double *here, int64_t count,
                           MPI_Datatype section)
{
    if (put && count == SECTION)
        bc_coarray_put_section(&world, peer, there, here, section);
    else if (put)
        bc_coarray_put(&world, peer, there, here, count);
    else if (count == SECTION)
        bc_coarray_get_section(&world, peer, there, here, section);
    else
        bc_coarray_get(&world, peer, there, here, count);
}

/* Both arrays are of all shapes, one after the other. */
static void begin_traffic(const struct traffic *traffic, double *buffer, const MPI_Datatype *types)
{
    int64_t first = 0;
    for (int s = 0; s < traffic->count; s++) {
        const struct shape *const shape = &traffic->shapes[s];
        const int64_t slot = slot_of(shape);
        for (int peer = 0; peer < ranks; peer++) {
            double *const here = buffer + first + slot * peer + MARGIN;
            const int64_t there = first + slot * rank + start_in_slot(rank, peer);
            const int64_t count = traffic->sections ? SECTION : shape->block;
            begin_transfer(traffic->put, peer, there, here, count, types[s]);
        }
        first += slot * ranks;
    }
}

/* Returns how many differ, and names the shapes that have some. */
static int64_t compare_traffic(const struct traffic *traffic, const double *actual,
                               const double *expected)
{
    int64_t wrong = 0, first = 0;
    for (int s = 0; s < traffic->count; s++) {
        const struct shape *const shape = &traffic->shapes[s];
        const int64_t values = values_of(shape, 1);
        const int64_t here = count_differences(actual + first, expected + first, values);
        if (here != 0)
            print_error("rank %d, %lld blocks of %lld, %lld apart: %lld wrong\n", rank,
                        (long long)shape->blocks, (long long)shape->block, (long long)shape->stride,
                        (long long)here);
        wrong += here;
        first += values;
    }
    return wrong;
}

static int64_t wrong_in_traffic(struct traffic traffic)
{
    const int64_t values = values_of(traffic.shapes, traffic.count);
    MPI_Datatype types[SHAPES_MAX];
    double *const buffer = new_values(values, traffic.put ? GAP : UNTOUCHED);
    double *const expected = new_values(values, UNTOUCHED);
    close_world(values, traffic.put ? UNTOUCHED : GAP);
    int64_t first = 0;
    for (int s = 0; s < traffic.count; s++) {
        const struct shape *const shape = &traffic.shapes[s];
        types[s] = bc_section_create(shape->blocks, shape->block, shape->stride);
        write_buffer((traffic.put ? buffer : expected) + first, shape);
        write_part((traffic.put ? expected : world.values) + first, shape);
        first += values_of(shape, 1);
    }
    open_world();
    begin_traffic(&traffic, buffer, types);
    bc_sync_all(&world);
    const int64_t wrong = compare_traffic(&traffic, traffic.put ? world.values : buffer, expected);
    for (int s = 0; s < traffic.count; s++)
        MPI_Type_free(&types[s]);
    free(buffer);
    free(expected);
    return wrong;
}

static void transfers_land_where_they_must(void **state)
{
    int64_t wrong = 0;
    for (int put = 0; put <= 1; put++) {
        wrong += wrong_in_traffic((struct traffic){contiguous, LENGTH(contiguous), false, put});
        wrong += wrong_in_traffic((struct traffic){sections, LENGTH(sections), true, put});
    }
    assert_int_equal(wrong, 0);
}

/* Transfers beyond an int are cut into pieces that lie end to end; nothing is moved here. */
TEST(huge_transfers_go_in_pieces)
{
    static const int64_t huge = INT64_C(5000000000);
    static double values[1];
    mode = RECORD;
    bc_coarray_put(&world, ranks - 1, 7, values, huge);
    const int puts = transfer_count;
    bc_coarray_get(&world, 0, 7, values, huge);
    const int both = transfer_count;
    bool right = true;
    int64_t next = 0;
    for (int i = 0; i < both; i++) {
        const struct transfer *const t = &transfers[i];
        if (i == puts)
            next = next == huge ? 0 : -1;
        const uintptr_t start = (uintptr_t)(i < puts ? t->origin : t->destination);
        right = right && t->kind == (i < puts ? PUT : GET) && t->displacement == 7 + next &&
                start == (uintptr_t)values + (uintptr_t)next * sizeof(double) &&
                t->target == (i < puts ? ranks - 1 : 0) && t->count > 0 &&
                t->count <= INT32_MAX / (int)sizeof(double) && t->type == MPI_DOUBLE;
        next += t->count;
    }
    transfer_count = 0;
    mode = LIBRARY;
    assert_true(right);
    assert_int_equal(next, huge);
    assert_in_range(puts, 2, 100);
    assert_int_equal(both, 2 * puts);
}

/* ---- sizes and communicators ----------------------------------------------------------------- */

TEST(sizes_start_at_zero)
{
    static const int64_t counts[] = {
        0, 1, PAGE_VALUES + 1, PAGE_VALUES, 2, PAGE_VALUES - 1, 100000,
    };
    const int count_count = repetitions(3, LENGTH(counts));
    int64_t wrong = 0;
    for (int c = 0; c < count_count; c++) {
        const int64_t count = counts[c];
        struct bc_coarray coarray;
        bc_coarray_create(&coarray, MPI_COMM_WORLD, count);
        wrong += coarray.count != count || coarray.values == NULL;
        for (int64_t i = 0; i < count; i++)
            wrong += coarray.values[i] != 0.0;
        bc_sync_all(&coarray);
        /* The first and the last value are there for others, too. */
        const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
        const double first = 1.0 + rank, last = 100.0 + rank;
        if (count > 1)
            bc_coarray_put(&coarray, right, 0, &first, 1);
        if (count > 0)
            bc_coarray_put(&coarray, right, count - 1, &last, 1);
        bc_sync_all(&coarray);
        if (count > 1)
            wrong += coarray.values[0] != 1.0 + left;
        if (count > 0)
            wrong += coarray.values[count - 1] != 100.0 + left;
        bc_coarray_destroy(&coarray);
    }
    assert_int_equal(wrong, 0);
}

/* Made anew again and again: what was put into the one before is gone, and a put right after the
   creation is not written over by zeros. */
TEST(creation_clears_and_synchronises)
{
    enum { LENGTH = 70000 };
    const int times = repetitions(2, 100), right = (rank + 1) % ranks;
    int64_t wrong = 0;
    for (int i = 0; i < times; i++) {
        struct bc_coarray coarray;
        const double value = 3.0 + rank, one = 1.0;
        slow_to_allocate = (rank + i) % ranks == 0;
        bc_coarray_create(&coarray, MPI_COMM_WORLD, LENGTH);
        slow_to_allocate = false;
        for (int v = 0; v < LENGTH - 1; v++)
            wrong += coarray.values[v] != 0.0;
        bc_coarray_put(&coarray, right, LENGTH - 1, &value, 1);
        bc_sync_all(&coarray);
        bc_coarray_put(&coarray, right, 1, &one, 1);
        bc_sync_all(&coarray);
        wrong += coarray.values[0] != 0.0 || coarray.values[1] != 1.0 || coarray.values[2] != 0.0;
        wrong += coarray.values[LENGTH - 1] != 3.0 + (rank + ranks - 1) % ranks;
        bc_coarray_destroy(&coarray);
    }
    assert_int_equal(wrong, 0);
}

static void create_locks(struct locks *made, MPI_Comm comm)
{
    bc_mutex_create(&made->mutex, comm);
    bc_queue_lock_create(&made->queue_lock, comm);
}

static void destroy_locks(struct locks *made)
{
    bc_queue_lock_destroy(&made->queue_lock);
    bc_mutex_destroy(&made->mutex);
}

/* The even or the odd ranks, counted backwards, with a coarray and locks of their own. */
struct half {
    int self, size;
    struct bc_coarray coarray;
    struct locks locks;
};

/* One half after the other: Open MPI before 5.0 mixes up the windows that ranks
   of one node make at the same time in communicators that have no rank in common
   (tests/mpi_defects/windows_at_once.c). Collective over all ranks. */
static void create_half(struct half *half)
{
    MPI_Comm comm;
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));
    BC_MPI(MPI_Comm_rank(comm, &half->self));
    BC_MPI(MPI_Comm_size(comm, &half->size));
    for (int creating = 0; creating < 2; creating++) {
        if (rank % 2 == creating) {
            bc_coarray_create(&half->coarray, comm, 1);
            create_locks(&half->locks, comm);
        }
        meet();
    }
    BC_MPI(MPI_Comm_free(&comm));
}

static void destroy_half(struct half *half)
{
    destroy_locks(&half->locks);
    bc_coarray_destroy(&half->coarray);
}

/* Ranks are those of the coarray's communicator, which may go before it. */
TEST(other_communicators_count_their_own_ranks)
{
    struct half half;
    struct bc_images images;
    int wrong = 0;
    create_half(&half);
    const int right = (half.self + 1) % half.size;
    const int left = (half.self + half.size - 1) % half.size;
    const int both[] = {left, right};
    const double value = 1.0 + rank;
    bc_images_create(&images, &half.coarray, both, 2);
    bc_coarray_put(&half.coarray, right, 0, &value, 1);
    bc_sync_images(&half.coarray, &images);
    /* Keys fall, so the left one has the next greater rank of this half. */
    const int from = rank + 2 < ranks ? rank + 2 : rank % 2;
    wrong += half.coarray.values[0] != 1.0 + from;
    bc_images_destroy(&images);
    destroy_half(&half);
    assert_int_equal(wrong, 0);
}

/* ---- at every repetition --------------------------------------------------------------------- */

#define RING_MAX 20000 /* values in a half */

#define RING_TIMES_MIN 6 /* repetitions: each shape once, and one of them again */

/* What moves in a repetition: little, much, and sections of both. */
static const struct shape ring_shapes[] = {
    {1, 1, 1}, {1, 100, 100}, {1, RING_MAX, RING_MAX}, {10, 1, 3}, {5000, 2, 4},
};

static int64_t count_wrong_blocks(const double *values, const struct shape *shape, double expected)
{
    int64_t wrong = 0;
    for (int64_t b = 0; b < shape->blocks; b++)
        for (int64_t i = 0; i < shape->block; i++)
            wrong += values[b * shape->stride + i] != expected;
    return wrong;
}

/* A ring: each rank puts to its right neighbour, or gets from it, in two halves in turn, so that
   one synchronisation a repetition, of all or of neighbours, orders it all. Returns the wrong
   values. */
static int64_t go_round(bool put, bool images)
{
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    /* This rank, and on two ranks the same one twice. */
    const int set[] = {left, rank, right};
    const int times = repetitions(RING_TIMES_MIN, 500);
    struct bc_images neighbours;
    int64_t wrong = 0;
    double *buffers[] = {new_values(RING_MAX, UNTOUCHED), new_values(RING_MAX, UNTOUCHED)};
    clear_world(2 * RING_MAX, UNTOUCHED);
    bc_images_create(&neighbours, &world, set, 3);
    for (int i = 1; i <= times; i++) {
        const struct shape *const shape = &ring_shapes[i % LENGTH(ring_shapes)];
        const int64_t half = i % 2 * RING_MAX, count = shape->blocks == 1 ? shape->block : SECTION;
        double *const here = buffers[i % 2], *const part = world.values + half;
        MPI_Datatype blocks = bc_section_create(shape->blocks, shape->block, shape->stride);
        fill(put ? here : part, RING_MAX, 1000.0 * i + rank);
        if (put)
            begin_transfer(true, right, half, here, count, blocks);
        if (images)
            bc_sync_images(&world, &neighbours);
        else
            bc_sync_all(&world);
        if (!put) {
            begin_transfer(false, right, half, here, count, blocks);
            bc_sync_memory(&world);
        }
        wrong += put ? count_wrong_blocks(part, shape, 1000.0 * i + left)
                     : count_wrong_blocks(here, shape, 1000.0 * i + right);
        MPI_Type_free(&blocks);
    }
    bc_images_destroy(&neighbours);
    free(buffers[0]);
    free(buffers[1]);
    return wrong;
}

static void syncs_show_what_was_put_or_stored(void **state)
{
    int64_t wrong[2][2];
    for (int put = 0; put <= 1; put++)
        for (int images = 0; images <= 1; images++)
            wrong[put][images] = go_round(put, images);
    for (int put = 0; put <= 1; put++)
        for (int images = 0; images <= 1; images++)
            assert_int_equal(wrong[put][images], 0);
}

/* Each rank in turn puts to all, and the others have nothing of their own to
   complete, which might hold them up as well. */
static void sync_all_shows_what_one_rank_put(void **state)
{
    const int times = repetitions(ranks, 500);
    int wrong = 0;
    clear_world(2, UNTOUCHED);
    for (int i = 0; i < times; i++) {
        const double value = i;
        for (int target = 0; i % ranks == rank && target < ranks; target++)
            bc_coarray_put(&world, target, i % 2, &value, 1);
        bc_sync_all(&world);
        wrong += world.values[i % 2] != value;
    }
    assert_int_equal(wrong, 0);
}

/* From hand to hand: each rank puts what it has seen, and one more, to the next
   one; rank 0 has the count of all hands in the end. And beside it rank 0 puts to
   the last rank, which only hears of it through those between. */
static void data_follows_a_chain_of_syncs(void **state)
{
    const int times = repetitions(4, 300);
    int64_t wrong = 0;
    struct bc_images before, after;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    clear_world(2 * PAGE_VALUES, 0.0);
    bc_images_create(&before, &world, &left, 1);
    bc_images_create(&after, &world, &right, 1);
    double news = 0.0, hands = 0.0;
    for (int i = 1; i <= times; i++) {
        if (rank > 0)
            bc_sync_images(&world, &before);
        wrong += rank == ranks - 1 && world.values[PAGE_VALUES] != i;
        hands = world.values[1] + 1.0;
        bc_coarray_put(&world, right, 1, &hands, 1);
        if (rank == 0) {
            news = i;
            bc_coarray_put(&world, ranks - 1, PAGE_VALUES, &news, 1);
        }
        bc_sync_images(&world, &after);
        if (rank == 0) {
            bc_sync_images(&world, &before);
            wrong += world.values[1] != (double)i * ranks;
        }
    }
    bc_images_destroy(&before);
    bc_images_destroy(&after);
    assert_int_equal(wrong, 0);
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

/* Each rank comes late in turn, and nobody is out before it is in. */
TEST(sync_all_waits_for_everyone)
{
    int early = 0;
    for (int late = 0; late < ranks; late++) {
        turn++;
        if (rank == late)
            dawdle(50e-3);
        bc_sync_all(&world);
        early += !has_come(late);
    }
    assert_int_equal(early, 0);
}

/* A star: rank 0 names all, twice, the others only rank 0, once. Each is late in
   turn, and rank 0 is not out before it is in; nor is anyone when rank 0 is late. */
TEST(sync_images_waits_for_the_named)
{
    int early = 0;
    int all[2 * RANKS_MAX];
    struct bc_images star;
    for (int i = 0; i < 2 * ranks; i++)
        all[i] = i / 2;
    bc_images_create(&star, &world, all, rank == 0 ? 2 * ranks : 1);
    for (int late = 0; late < ranks; late++) {
        turn++;
        if (rank == late)
            dawdle(50e-3);
        bc_sync_images(&world, &star);
        if (rank == 0 || late == 0)
            early += !has_come(late);
    }
    bc_images_destroy(&star);
    assert_int_equal(early, 0);
}

/* Two ranks synchronise again and again while all others sleep: they are through
   before any of those is awake. The stranger's sleep is far longer than what the
   two need, with two cores to themselves. */
TEST(sync_images_waits_for_no_stranger)
{
    int waited = 0;
    struct bc_images pair;
    if (ranks < 3)
        skip();
    const int first = ranks / 2 - 1, second = ranks / 2;
    const bool in_pair = rank == first || rank == second;
    const int partner = rank == first ? second : first;
    bc_images_create(&pair, &world, &partner, in_pair ? 1 : 0);
    turn++;
    clear_world(2, UNTOUCHED);
    if (!in_pair)
        dawdle(500e-3);
    for (int i = 0; i < 10; i++) {
        const double value = i;
        if (in_pair)
            bc_coarray_put(&world, partner, i % 2, &value, 1);
        bc_sync_images(&world, &pair);
        waited += in_pair && world.values[i % 2] != value;
    }
    for (int i = 0; in_pair && i < ranks; i++)
        waited += has_come(i);
    bc_sync_all(&world);
    bc_images_destroy(&pair);
    assert_int_equal(waited, 0);
}

/* No one is named, or only this rank: nothing to wait for. */
TEST(sync_images_with_nobody_returns)
{
    int waited = 0, wrong = 0;
    struct bc_images none, self;
    const double value = 4.0;
    const int own[] = {rank, rank};
    bc_images_create(&none, &world, NULL, 0);
    bc_images_create(&self, &world, own, 2);
    turn++;
    clear_world(1, UNTOUCHED);
    if (rank == 0)
        dawdle(300e-3);
    bc_coarray_put(&world, rank, 0, &value, 1);
    bc_sync_images(&world, &none);
    wrong += world.values[0] != value;
    bc_sync_images(&world, &self);
    waited += rank != 0 && has_come(0);
    bc_sync_all(&world);
    bc_images_destroy(&none);
    bc_images_destroy(&self);
    assert_int_equal(waited, 0);
    assert_int_equal(wrong, 0);
}

/* Begins its syncs with `others`, ends them, and returns how many of the others
   had not begun as many with this rank when it was out. */
static int counted_sync(const int *others, int count)
{
    int mine[RANKS_MAX], early = 0;
    struct bc_images images;
    bc_images_create(&images, &world, others, count);
    for (int i = 0; i < count; i++)
        mine[i] = 1 + atomic_fetch_add(&shared->calls[rank][others[i]], 1);
    bc_sync_images(&world, &images);
    for (int i = 0; i < count; i++)
        early += atomic_load(&shared->calls[others[i]][rank]) < mine[i];
    bc_images_destroy(&images);
    return early;
}

/* Rank 0 synchronises thrice with rank 1 and once with the last one, in between;
   rank 1's second time comes late, when its first message is long there. */
TEST(unequal_numbers_match_in_order)
{
    int early = 0;
    const int last = ranks - 1, zero = 0, one = 1;
    const int both[] = {1, last};
    if (rank == 0) {
        early += counted_sync(&one, 1);
        early += counted_sync(both, last > 1 ? 2 : 1);
        early += counted_sync(&one, 1);
    } else if (rank == 1) {
        early += counted_sync(&zero, 1);
        sleep_s(50e-3);
        early += counted_sync(&zero, 1);
        sleep_s(50e-3);
        early += counted_sync(&zero, 1);
    } else if (rank == last) {
        early += counted_sync(&zero, 1);
    }
    bc_sync_all(&world);
    assert_int_equal(early, 0);
}

/* Stars of random ranks in one order that all know, so no one waits for ever. */
TEST(random_sets_match_in_order)
{
    struct random random = random_from(7);
    const int times = repetitions(10, 1000);
    int early = 0;
    for (int i = 0; i < times; i++) {
        const int centre = (int)random_below(&random, (size_t)ranks);
        const int slow = (int)random_below(&random, 20 * (size_t)ranks);
        int leaves[RANKS_MAX], count = 0;
        bool leaf = false;
        for (int r = 0; r < ranks; r++)
            if (r != centre && random_below(&random, 2) == 0) {
                leaves[count++] = r;
                leaf = leaf || r == rank;
            }
        if (rank == slow)
            sleep_s(2e-3);
        if (rank == centre)
            early += counted_sync(leaves, count);
        else if (leaf)
            early += counted_sync(&centre, 1);
    }
    bc_sync_all(&world);
    assert_int_equal(early, 0);
}

/* A receive of anything from anyone is under way during all of it. */
TEST(messages_of_others_do_not_match)
{
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    const int both[] = {left, right};
    int received = -1;
    MPI_Request request;
    MPI_Status status;
    struct bc_images images;
    bc_images_create(&images, &world, both, 2);
    BC_MPI(MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    for (int i = 0; i < 3; i++) {
        bc_sync_images(&world, &images);
        bc_sync_all(&world);
    }
    BC_MPI(MPI_Send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
    BC_MPI(MPI_Wait(&request, &status));
    bc_images_destroy(&images);
    assert_int_equal(received, left);
    assert_int_equal(status.MPI_SOURCE, left);
}

/* ---- mutual exclusion ------------------------------------------------------------------------ */

/* A test's state: by which kind. */
struct exclusion {
    void (*acquire)(struct locks *of), (*release)(struct locks *of);
};

static void lock_mutex(struct locks *of) { bc_mutex_lock(&of->mutex); }

static void unlock_mutex(struct locks *of) { bc_mutex_unlock(&of->mutex); }

static void acquire_queue_lock(struct locks *of) { bc_queue_lock_acquire(&of->queue_lock); }

static void release_queue_lock(struct locks *of) { bc_queue_lock_release(&of->queue_lock); }

static struct exclusion by_mutex = {lock_mutex, unlock_mutex};
static struct exclusion by_queue = {acquire_queue_lock, release_queue_lock};

/* A counter on rank 0 of the coarray that only exclusion leaves right. */
static void count_up(const struct bc_coarray *counter, bool linger)
{
    double value = UNTOUCHED;
    bc_coarray_get(counter, 0, 0, &value, 1);
    bc_sync_memory(counter);
    value += 1.0;
    if (linger)
        sleep_s(1e-3);
    bc_coarray_put(counter, 0, 0, &value, 1);
    bc_sync_memory(counter);
}

/* Another one that MPI knows nothing of; one inside sees whether it is alone. */
static void count_up_outside(bool linger)
{
    const long total = atomic_load_explicit(&shared->total, memory_order_relaxed);
    if (atomic_fetch_add(&shared->holders, 1) != 0)
        atomic_fetch_add(&shared->overlaps, 1);
    if (linger)
        sleep_s(1e-3);
    atomic_fetch_sub(&shared->holders, 1);
    atomic_store_explicit(&shared->total, total + 1, memory_order_relaxed);
}

#define LOCKS_MIN 3
#define LOCKS_MAX 500

/* Whether a holder sleeps, so that others run and would come in, too, if they
   could: each rank does so, however few the repetitions. */
static bool lingers(int repetition) { return repetition % 100 == rank % LOCKS_MIN; }

static void counter_in_a_coarray_is_exact(void **state)
{
    const struct exclusion *const by = *state;
    const int times = repetitions(LOCKS_MIN, LOCKS_MAX);
    clear_world(1, 0.0);
    for (int i = 0; i < times; i++) {
        by->acquire(&locks);
        count_up(&world, lingers(i));
        by->release(&locks);
    }
    meet();
    bc_sync_all(&world);
    if (rank == 0)
        assert_near(world.values[0], (double)times * ranks, 0.0);
}

/* Collective. */
static void start_counting_outside(void)
{
    if (rank == 0) {
        atomic_store(&shared->holders, 0);
        atomic_store(&shared->overlaps, 0);
        atomic_store(&shared->total, 0);
    }
    meet();
}

static void counter_outside_of_mpi_is_exact(void **state)
{
    const struct exclusion *const by = *state;
    const int times = repetitions(LOCKS_MIN, LOCKS_MAX);
    start_counting_outside();
    for (int i = 0; i < times; i++) {
        by->acquire(&locks);
        count_up_outside(lingers(i));
        by->release(&locks);
    }
    meet();
    const int overlaps = atomic_load(&shared->overlaps);
    const long total = atomic_load(&shared->total);
    meet();
    assert_int_equal(overlaps, 0);
    assert_int_equal(total, (long)times * ranks);
}

/* Where everybody finds nobody in the queue holders are seen to overlap, as the test
   above would. */
static void broken_queue_is_found(void **state)
{
    const struct exclusion *const by = *state;
    start_counting_outside();
    for (int i = 0; i < LOCKS_MAX && atomic_load(&shared->overlaps) == 0; i++) {
        by->acquire(&locks);
        count_up_outside(true);
        by->release(&locks);
    }
    meet();
    const int overlaps = atomic_load(&shared->overlaps);
    meet();
    assert_true(overlaps > 0);
}

/* The lock is held before any access to a window, and not only at one. Each rank
   holds it in turn, and the next one asks for it. */
static void lock_waits_for_the_holder(void **state)
{
    const struct exclusion *const by = *state;
    int early = 0;
    for (int holder = 0; holder < ranks; holder++) {
        turn++;
        if (rank == holder)
            by->acquire(&locks);
        meet();
        if (rank == holder) {
            dawdle(20e-3);
            by->release(&locks);
        } else if (rank == (holder + 1) % ranks) {
            by->acquire(&locks);
            early += !has_come(holder);
            by->release(&locks);
        }
        meet();
    }
    assert_int_equal(early, 0);
}

/* Exclusion inside of each half, none between the two. */
static void locks_of_other_communicators(void **state)
{
    const struct exclusion *const by = *state;
    const int times = repetitions(LOCKS_MIN, LOCKS_MAX);
    struct half half;
    create_half(&half);
    for (int i = 0; i < times; i++) {
        by->acquire(&half.locks);
        count_up(&half.coarray, lingers(i));
        by->release(&half.locks);
    }
    meet();
    bc_sync_all(&half.coarray);
    const double total = half.coarray.values[0];
    /* One of either half holds its own at once. */
    if (half.self == half.size - 1)
        by->acquire(&half.locks);
    meet();
    if (half.self == half.size - 1)
        by->release(&half.locks);
    const bool first = half.self == 0;
    const double expected = (double)times * half.size;
    destroy_half(&half);
    if (first)
        assert_near(total, expected, 0.0);
}

/* Two locks of the same ranks have nothing to do with each other. */
static void locks_are_independent(void **state)
{
    const struct exclusion *const by = *state;
    struct locks another;
    create_locks(&another, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            by->acquire(&locks);
        if (rank == ranks - 1)
            by->acquire(&another);
        meet();
        if (rank == 0)
            by->release(&locks);
        if (rank == ranks - 1)
            by->release(&another);
    }
    destroy_locks(&another);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void create_world(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (ranks < 2 || ranks > RANKS_MAX)
        bc_abort("run this on 2 to %d ranks", RANKS_MAX);
    map_shared_page();
    time_barrier();
    int64_t count = 2 * RING_MAX;
    const int64_t needed[] = {
        values_of(contiguous, LENGTH(contiguous)),
        values_of(sections, LENGTH(sections)),
    };
    for (int i = 0; i < LENGTH(needed); i++)
        if (needed[i] > count)
            count = needed[i];
    bc_coarray_create(&world, MPI_COMM_WORLD, count);
    create_locks(&locks, MPI_COMM_WORLD);
}

static void destroy_world(void)
{
    destroy_locks(&locks);
    bc_coarray_destroy(&world);
}

/* Under which MPI, and with which exclusion, a test runs. */
static struct condition {
    const char *name;
    enum mode mode;
    const struct exclusion *by;
} as_it_is = {"library", LIBRARY, NULL}, late = {"late", LATE, NULL},
  mutex = {"mutex", LIBRARY, &by_mutex}, late_mutex = {"mutex, late", LATE, &by_mutex},
  queue = {"queue", LIBRARY, &by_queue}, late_queue = {"queue, late", LATE, &by_queue},
  queue_twice = {"queue, swaps write twice", TWICE, &by_queue},
  broken_queue = {"queue, broken", BROKEN, &by_queue};

static int impose(void **state)
{
    const struct condition *const condition = *state != NULL ? *state : &as_it_is;
    print_message("under: %s\n", condition->name);
    transfer_count = 0; /* what a failed test has left */
    mode = condition->mode;
    *state = (void *)(uintptr_t)condition->by;
    return 0;
}

static int lift(void **state)
{
    mode = LIBRARY;
    return 0;
}

static void add_conditions(void)
{
#define ADD(test, condition) add_test(#test, test, &(condition))
#define ADD_BOTH(test, one, other) ADD(test, one), ADD(test, other)
#define ADD_ALL(test) ADD_BOTH(test, mutex, late_mutex), ADD_BOTH(test, queue, late_queue)
    ADD_BOTH(transfers_land_where_they_must, as_it_is, late);
    ADD_BOTH(syncs_show_what_was_put_or_stored, as_it_is, late);
    ADD_BOTH(sync_all_shows_what_one_rank_put, as_it_is, late);
    ADD_BOTH(data_follows_a_chain_of_syncs, as_it_is, late);
    ADD_ALL(counter_in_a_coarray_is_exact);
    ADD_ALL(counter_outside_of_mpi_is_exact);
    ADD_ALL(lock_waits_for_the_holder);
    ADD_ALL(locks_of_other_communicators);
    ADD_BOTH(locks_are_independent, mutex, queue);
    ADD(counter_outside_of_mpi_is_exact, queue_twice);
    ADD(broken_queue_is_found, broken_queue);
}

static void set_up(void)
{
    create_world();
    add_conditions();
}

const struct test_program test_program = {.mpi = true,
                                          .set_up = set_up,
                                          .tear_down = destroy_world,
                                          .before_each = impose,
                                          .after_each = lift};
