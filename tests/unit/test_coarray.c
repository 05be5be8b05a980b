/*
 * The coarray layer; run on 2, 4 and 8 ranks of one node.
 *
 * Each test makes all its collective calls first and looks at what came of them
 * afterwards, so that a rank on which a check fails leaves no other waiting.
 *
 * A library may do better than MPI promises: most copy at once inside a node and
 * wait for a lock in the call that asks for it, so code that forgets to complete
 * something is right by luck. So some tests run a second time under a late MPI:
 * the wrappers below put off each transfer and each lock as long as the standard
 * lets them.
 */
#include "helpers.h"

#include "common/coarray.h"
#include "common/mpi_check.h"

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

static int rank, ranks;

/* ---- what the ranks share without MPI ------------------------------------------ */

struct page {
    atomic_int late[RANKS_MAX];             /* this rank has slept */
    atomic_int calls[RANKS_MAX][RANKS_MAX]; /* syncs begun, by whom, with whom */
    atomic_int holders, overlaps;
    atomic_long total; /* loaded and stored: no atomic addition */
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
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                  0);
    if (file < 0 || shared == MAP_FAILED)
        bc_abort("can't map the temporary file");
    close(file);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(name);
}

/* Collective. */
static void clear_shared_page(void)
{
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        memset((void *)shared, 0, sizeof *shared);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000,
                                   .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* Comes late, and leaves word that it did. */
static void dawdle(long ms)
{
    sleep_ms(ms);
    atomic_store(&shared->late[rank], 1);
}

/* ---- the late MPI --------------------------------------------------------------- */

static enum {
    LIBRARY, /* as it is */
    LATE,    /* transfers at the flush, locks at the first transfer or unlock */
    RECORD,  /* no transfers at all */
} mode;

struct transfer {
    bool put;
    const void *origin;
    void *destination;
    int count;
    MPI_Datatype type;
    int target;
    MPI_Aint displacement;
    MPI_Win window;
};

#define TRANSFERS_MAX 1024
static struct transfer transfers[TRANSFERS_MAX]; /* begun, not yet made */
static int transfer_count;

static struct {
    bool pending;
    int type, target, assert;
    MPI_Win window;
} late_lock;

static int make(const struct transfer *t)
{
    if (t->put)
        return PMPI_Put(t->origin, t->count, t->type, t->target,
                        t->displacement, t->count, t->type, t->window);
    return PMPI_Get(t->destination, t->count, t->type, t->target,
                    t->displacement, t->count, t->type, t->window);
}

static int begin(const struct transfer *transfer)
{
    if (mode == LIBRARY)
        return make(transfer);
    if (transfer_count == TRANSFERS_MAX)
        bc_abort("more transfers than the late MPI holds");
    transfers[transfer_count++] = *transfer;
    return MPI_SUCCESS;
}

static bool lock_is_late(MPI_Win window)
{
    return late_lock.pending && late_lock.window == window;
}

static void take_late_lock(MPI_Win window)
{
    if (!lock_is_late(window))
        return;
    late_lock.pending = false;
    BC_MPI(PMPI_Win_lock(late_lock.type, late_lock.target, late_lock.assert,
                         window));
}

static void make_transfers(MPI_Win window)
{
    int kept = 0;
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

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_type,
            MPI_Win window)
{
    (void)target_count;
    (void)target_type;
    return begin(&(struct transfer){
        .put = true,
        .origin = origin,
        .count = count,
        .type = type,
        .target = target,
        .displacement = displacement,
        .window = window,
    });
}

int MPI_Get(void *destination, int count, MPI_Datatype type, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_type,
            MPI_Win window)
{
    (void)target_count;
    (void)target_type;
    return begin(&(struct transfer){
        .destination = destination,
        .count = count,
        .type = type,
        .target = target,
        .displacement = displacement,
        .window = window,
    });
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
    late_lock.pending = true;
    late_lock.type = type;
    late_lock.target = target;
    late_lock.assert = assert;
    late_lock.window = window;
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

static int be_late(void **state)
{
    (void)state;
    mode = LATE;
    return 0;
}

static int be_library(void **state)
{
    (void)state;
    mode = LIBRARY;
    return 0;
}

/* ---- values --------------------------------------------------------------------- */

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

/* Repetitions that take about as long on any number of ranks: with more ranks
   than cores a synchronisation may take milliseconds. */
static int repetitions(int on_two)
{
    return ranks <= 2 ? on_two : ranks <= 4 ? on_two / 5 : on_two / 25;
}

/* ---- where transfers land ------------------------------------------------------- */

/* What every rank puts to every rank, or gets from it; a contiguous transfer is
   one block. Each pair has a slot of its own with margins around what moves. */
struct shape {
    int64_t blocks, block, stride;
};

static const struct shape contiguous[] = {
    {1, 0, 0},   {1, 1, 1},     {1, 2, 2},     {1, 3, 3},
    {1, 17, 17}, {1, 511, 511}, {1, 512, 512}, {1, 513, 513},
    {1, 2500, 2500}, {1, 70000, 70000},
};

static const struct shape sections[] = {
    {0, 1, 1}, {3, 0, 2},   {1, 1, 1},     {4, 1, 2},    {5, 3, 7},
    {7, 2, 2}, {100, 1, 9}, {33, 17, 129}, {3, 600, 700}, {2, 1, 5000},
    {5000, 1, 2},
};

#define MARGIN 5

static int64_t extent_of(const struct shape *shape)
{
    return shape->blocks == 0
               ? 0
               : (shape->blocks - 1) * shape->stride + shape->block;
}

static int64_t slot_of(const struct shape *shape)
{
    return extent_of(shape) + 2 * MARGIN + 1;
}

/* Where the transfer begins in the slot of a pair: at odd places, too. */
static int64_t start_in_slot(int origin, int target)
{
    return MARGIN + (origin + target) % 2;
}

/* Writes what one end of a transfer has, or is to have. */
static void write_blocks(double *values, const struct shape *shape, int origin,
                         int target)
{
    for (int64_t b = 0; b < shape->blocks; b++)
        for (int64_t i = 0; i < shape->block; i++)
            values[b * shape->stride + i] =
                value_of(origin, target, b * shape->stride + i);
}

/* Returns the wrong values on this rank. */
static int64_t put_everywhere(const struct shape *shape, bool section)
{
    const int64_t slot = slot_of(shape), count = slot * ranks;
    struct bc_coarray coarray;
    struct bc_section blocks;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, count);
    bc_section_create(&blocks, shape->blocks, shape->block, shape->stride);
    double *const source = new_values(count, GAP);
    double *const expected = new_values(count, UNTOUCHED);
    fill(coarray.values, count, UNTOUCHED);
    bc_sync_all(&coarray);
    for (int target = 0; target < ranks; target++) {
        double *const from = source + slot * target;
        const int64_t place = slot * rank + start_in_slot(rank, target);
        write_blocks(from, shape, rank, target);
        if (section)
            bc_coarray_put_section(&coarray, target, place, from, &blocks);
        else
            bc_coarray_put(&coarray, target, place, from, shape->block);
    }
    bc_sync_all(&coarray);
    for (int origin = 0; origin < ranks; origin++)
        write_blocks(expected + slot * origin + start_in_slot(origin, rank),
                     shape, origin, rank);
    const int64_t wrong = count_differences(coarray.values, expected, count);
    free(source);
    free(expected);
    bc_section_destroy(&blocks);
    bc_coarray_destroy(&coarray);
    return wrong;
}

static int64_t get_everywhere(const struct shape *shape, bool section)
{
    const int64_t slot = slot_of(shape), count = slot * ranks;
    struct bc_coarray coarray;
    struct bc_section blocks;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, count);
    bc_section_create(&blocks, shape->blocks, shape->block, shape->stride);
    double *const destination = new_values(count, UNTOUCHED);
    double *const expected = new_values(count, UNTOUCHED);
    fill(coarray.values, count, GAP);
    for (int origin = 0; origin < ranks; origin++)
        write_blocks(coarray.values + slot * origin +
                         start_in_slot(origin, rank),
                     shape, origin, rank);
    bc_sync_all(&coarray);
    for (int target = 0; target < ranks; target++) {
        double *const to = destination + slot * target + MARGIN;
        const int64_t place = slot * rank + start_in_slot(rank, target);
        write_blocks(expected + slot * target + MARGIN, shape, rank, target);
        if (section)
            bc_coarray_get_section(&coarray, target, place, to, &blocks);
        else
            bc_coarray_get(&coarray, target, place, to, shape->block);
    }
    bc_sync_all(&coarray);
    const int64_t wrong = count_differences(destination, expected, count);
    free(destination);
    free(expected);
    bc_section_destroy(&blocks);
    bc_coarray_destroy(&coarray);
    return wrong;
}

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void check_everywhere(int64_t (*move)(const struct shape *, bool),
                             const struct shape *shapes, size_t count,
                             bool section)
{
    int64_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t here = move(&shapes[i], section);
        if (here != 0)
            print_error("rank %d, %lld blocks of %lld, %lld apart: %lld wrong\n",
                        rank, (long long)shapes[i].blocks,
                        (long long)shapes[i].block,
                        (long long)shapes[i].stride, (long long)here);
        wrong += here;
    }
    assert_int_equal(wrong, 0);
}

static void puts_land_where_they_must(void **state)
{
    (void)state;
    check_everywhere(put_everywhere, contiguous, LENGTH(contiguous), false);
}

static void gets_come_from_where_they_must(void **state)
{
    (void)state;
    check_everywhere(get_everywhere, contiguous, LENGTH(contiguous), false);
}

static void put_sections_leave_gaps_alone(void **state)
{
    (void)state;
    check_everywhere(put_everywhere, sections, LENGTH(sections), true);
}

static void get_sections_leave_gaps_alone(void **state)
{
    (void)state;
    check_everywhere(get_everywhere, sections, LENGTH(sections), true);
}

/* Transfers beyond an int are cut into pieces that lie end to end; nothing is
   moved here. */
static void huge_transfers_go_in_pieces(void **state)
{
    (void)state;
    static const int64_t huge = INT64_C(5000000000);
    static double values[1];
    struct bc_coarray coarray;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 0);
    mode = RECORD;
    bc_coarray_put(&coarray, ranks - 1, 7, values, huge);
    const int puts = transfer_count;
    bc_coarray_get(&coarray, 0, 7, values, huge);
    const int both = transfer_count;
    bool right = true;
    int64_t next = 0;
    for (int i = 0; i < both; i++) {
        const struct transfer *const t = &transfers[i];
        if (i == puts)
            next = next == huge ? 0 : -1;
        const uintptr_t start =
            (uintptr_t)(i < puts ? t->origin : t->destination);
        right = right && t->put == (i < puts) && t->displacement == 7 + next &&
                start == (uintptr_t)values + (uintptr_t)next * sizeof(double) &&
                t->target == (i < puts ? ranks - 1 : 0) && t->count > 0 &&
                t->count <= INT32_MAX / (int)sizeof(double) &&
                t->type == MPI_DOUBLE;
        next += t->count;
    }
    transfer_count = 0;
    mode = LIBRARY;
    bc_coarray_destroy(&coarray);
    assert_true(right);
    assert_int_equal(next, huge);
    assert_in_range(puts, 2, 100);
    assert_int_equal(both, 2 * puts);
}

/* ---- sizes and communicators ----------------------------------------------------- */

static void sizes_start_at_zero(void **state)
{
    (void)state;
    static const int64_t counts[] = {
        0, 1, 2, PAGE_VALUES - 1, PAGE_VALUES, PAGE_VALUES + 1, 100000,
    };
    int64_t wrong = 0;
    for (size_t c = 0; c < LENGTH(counts); c++) {
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

/* Made anew again and again, what was put into the one before is gone. */
static void new_coarrays_are_clean(void **state)
{
    (void)state;
    int64_t wrong = 0;
    for (int i = 0; i < repetitions(100) + 1; i++) {
        struct bc_coarray coarray;
        const double one = 1.0;
        bc_coarray_create(&coarray, MPI_COMM_WORLD, 3);
        for (int v = 0; v < 3; v++)
            wrong += coarray.values[v] != 0.0;
        bc_sync_all(&coarray);
        bc_coarray_put(&coarray, (rank + 1) % ranks, 1, &one, 1);
        bc_sync_all(&coarray);
        wrong += coarray.values[0] != 0.0 || coarray.values[1] != 1.0 ||
                 coarray.values[2] != 0.0;
        bc_coarray_destroy(&coarray);
    }
    assert_int_equal(wrong, 0);
}

/* A put right after the creation finds zeros that are not written over. */
static void creation_synchronises(void **state)
{
    (void)state;
    int64_t wrong = 0;
    for (int i = 0; i < repetitions(100) + 1; i++) {
        struct bc_coarray coarray;
        const double value = 3.0 + rank;
        if ((rank + i) % ranks == 0)
            sleep_ms(1);
        bc_coarray_create(&coarray, MPI_COMM_WORLD, 70000);
        bc_coarray_put(&coarray, (rank + 1) % ranks, 69999, &value, 1);
        bc_sync_all(&coarray);
        wrong += coarray.values[69999] != 3.0 + (rank + ranks - 1) % ranks;
        bc_coarray_destroy(&coarray);
    }
    assert_int_equal(wrong, 0);
}

/* Ranks are those of the coarray's communicator, which may go before it. */
static void other_communicators_count_their_own_ranks(void **state)
{
    (void)state;
    MPI_Comm half;
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    struct bc_coarray coarray;
    int self, size, wrong = 0;
    BC_MPI(MPI_Comm_rank(half, &self));
    BC_MPI(MPI_Comm_size(half, &size));
    bc_coarray_create(&coarray, half, 1);
    BC_MPI(MPI_Comm_free(&half));
    const int right = (self + 1) % size, left = (self + size - 1) % size;
    const int both[] = {left, right};
    const double value = 1.0 + rank;
    struct bc_images images;
    bc_images_create(&images, &coarray, both, 2);
    bc_coarray_put(&coarray, right, 0, &value, 1);
    bc_sync_images(&coarray, &images);
    /* Keys fall, so the left one has the next greater rank of this half. */
    const int from = rank + 2 < ranks ? rank + 2 : rank % 2;
    wrong += coarray.values[0] != 1.0 + from;
    bc_images_destroy(&images);
    bc_coarray_destroy(&coarray);
    assert_int_equal(wrong, 0);
}

/* ---- at every repetition ----------------------------------------------------------- */

/* A ring: each rank puts to its right neighbour, or gets from it, in two halves
   in turn, so that one synchronisation a repetition orders it all. */
struct ring {
    struct bc_coarray coarray;
    struct bc_images neighbours;
    bool images; /* sync images, else sync all */
    int left, right;
};

#define RING_MAX 20000 /* values in a half */

/* What moves in a repetition: little, much, and sections of both. */
static const struct shape ring_shapes[] = {
    {1, 1, 1}, {1, 100, 100}, {1, RING_MAX, RING_MAX}, {10, 1, 3},
    {5000, 2, 4},
};

static void create_ring(struct ring *ring, bool images)
{
    ring->images = images;
    ring->left = (rank + ranks - 1) % ranks;
    ring->right = (rank + 1) % ranks;
    bc_coarray_create(&ring->coarray, MPI_COMM_WORLD, 2 * RING_MAX);
    /* This rank, and on two ranks the same one twice. */
    const int set[] = {ring->left, rank, ring->right};
    bc_images_create(&ring->neighbours, &ring->coarray, set, 3);
}

static void destroy_ring(struct ring *ring)
{
    bc_images_destroy(&ring->neighbours);
    bc_coarray_destroy(&ring->coarray);
}

static void sync_ring(struct ring *ring)
{
    if (ring->images)
        bc_sync_images(&ring->coarray, &ring->neighbours);
    else
        bc_sync_all(&ring->coarray);
}

static int64_t count_wrong_blocks(const double *values,
                                  const struct shape *shape, double expected)
{
    int64_t wrong = 0;
    for (int64_t b = 0; b < shape->blocks; b++)
        for (int64_t i = 0; i < shape->block; i++)
            wrong += values[b * shape->stride + i] != expected;
    return wrong;
}

static int64_t put_round(bool images, int times)
{
    struct ring ring;
    struct bc_section blocks;
    int64_t wrong = 0;
    double *sources[2] = {new_values(RING_MAX, 0.0), new_values(RING_MAX, 0.0)};
    create_ring(&ring, images);
    for (int i = 1; i <= times; i++) {
        const struct shape *const shape =
            &ring_shapes[(size_t)i % LENGTH(ring_shapes)];
        const int64_t half = i % 2 * RING_MAX;
        double *const source = sources[i % 2];
        fill(source, RING_MAX, 1000.0 * i + rank);
        bc_section_create(&blocks, shape->blocks, shape->block, shape->stride);
        if (shape->blocks == 1)
            bc_coarray_put(&ring.coarray, ring.right, half, source,
                           shape->block);
        else
            bc_coarray_put_section(&ring.coarray, ring.right, half, source,
                                   &blocks);
        sync_ring(&ring);
        wrong += count_wrong_blocks(ring.coarray.values + half, shape,
                                    1000.0 * i + ring.left);
        bc_section_destroy(&blocks);
    }
    destroy_ring(&ring);
    free(sources[0]);
    free(sources[1]);
    return wrong;
}

static int64_t get_round(bool images, int times)
{
    struct ring ring;
    struct bc_section blocks;
    int64_t wrong = 0;
    double *const destination = new_values(RING_MAX, UNTOUCHED);
    create_ring(&ring, images);
    for (int i = 1; i <= times; i++) {
        const struct shape *const shape =
            &ring_shapes[(size_t)i % LENGTH(ring_shapes)];
        const int64_t half = i % 2 * RING_MAX;
        fill(ring.coarray.values + half, RING_MAX, 1000.0 * i + rank);
        sync_ring(&ring);
        bc_section_create(&blocks, shape->blocks, shape->block, shape->stride);
        if (shape->blocks == 1)
            bc_coarray_get(&ring.coarray, ring.right, half, destination,
                           shape->block);
        else
            bc_coarray_get_section(&ring.coarray, ring.right, half, destination,
                                   &blocks);
        bc_sync_memory(&ring.coarray);
        wrong += count_wrong_blocks(destination, shape, 1000.0 * i + ring.right);
        bc_section_destroy(&blocks);
    }
    destroy_ring(&ring);
    free(destination);
    return wrong;
}

static void sync_all_shows_what_was_put(void **state)
{
    (void)state;
    assert_int_equal(put_round(false, repetitions(500)), 0);
}

static void sync_images_shows_what_was_put(void **state)
{
    (void)state;
    assert_int_equal(put_round(true, repetitions(500)), 0);
}

static void sync_all_shows_what_was_stored(void **state)
{
    (void)state;
    assert_int_equal(get_round(false, repetitions(500)), 0);
}

static void sync_images_shows_what_was_stored(void **state)
{
    (void)state;
    assert_int_equal(get_round(true, repetitions(500)), 0);
}

/* From hand to hand: each rank puts what it has seen, and one more, to the next
   one; rank 0 has the count of all hands in the end. And beside it rank 0 puts to
   the last rank, which only hears of it through those between. */
static void data_follows_a_chain_of_syncs(void **state)
{
    (void)state;
    const int times = repetitions(300);
    int64_t wrong = 0;
    struct bc_coarray coarray;
    struct bc_images before, after;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 2 * PAGE_VALUES);
    bc_images_create(&before, &coarray, &left, 1);
    bc_images_create(&after, &coarray, &right, 1);
    double news = 0.0, hands = 0.0;
    for (int i = 1; i <= times; i++) {
        if (rank > 0)
            bc_sync_images(&coarray, &before);
        wrong += rank == ranks - 1 && coarray.values[PAGE_VALUES] != i;
        hands = coarray.values[1] + 1.0;
        bc_coarray_put(&coarray, right, 1, &hands, 1);
        if (rank == 0) {
            news = i;
            bc_coarray_put(&coarray, ranks - 1, PAGE_VALUES, &news, 1);
        }
        bc_sync_images(&coarray, &after);
        if (rank == 0) {
            bc_sync_images(&coarray, &before);
            wrong += coarray.values[1] != (double)i * ranks;
        }
    }
    bc_images_destroy(&before);
    bc_images_destroy(&after);
    bc_coarray_destroy(&coarray);
    assert_int_equal(wrong, 0);
}

/* ---- who waits for whom -------------------------------------------------------------- */

/* Each rank comes late in turn, and nobody is out before it is in. */
static void sync_all_waits_for_everyone(void **state)
{
    (void)state;
    int early = 0;
    struct bc_coarray coarray;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    for (int late = 0; late < ranks; late++) {
        clear_shared_page();
        if (rank == late)
            dawdle(50);
        bc_sync_all(&coarray);
        early += atomic_load(&shared->late[late]) == 0;
    }
    bc_coarray_destroy(&coarray);
    assert_int_equal(early, 0);
}

/* A star: rank 0 names all, the others only rank 0. Each is late in turn, and
   rank 0 is not out before it is in; nor is anyone when rank 0 is late. */
static void sync_images_waits_for_the_named(void **state)
{
    (void)state;
    int early = 0;
    int all[RANKS_MAX];
    struct bc_coarray coarray;
    struct bc_images star;
    for (int i = 0; i < ranks; i++)
        all[i] = i;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    bc_images_create(&star, &coarray, all, rank == 0 ? ranks : 1);
    for (int late = 0; late < ranks; late++) {
        clear_shared_page();
        if (rank == late)
            dawdle(50);
        bc_sync_images(&coarray, &star);
        if (rank == 0 || late == 0)
            early += atomic_load(&shared->late[late]) == 0;
    }
    bc_images_destroy(&star);
    bc_coarray_destroy(&coarray);
    assert_int_equal(early, 0);
}

/* Two ranks synchronise again and again while all others sleep: they are through
   before any of those is awake. The stranger's sleep is far longer than what the
   two need, with two cores to themselves. */
static void sync_images_waits_for_no_stranger(void **state)
{
    (void)state;
    int waited = 0;
    struct bc_coarray coarray;
    struct bc_images pair;
    if (ranks < 3)
        skip();
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 2);
    const int first = ranks / 2 - 1, second = ranks / 2;
    const bool in_pair = rank == first || rank == second;
    const int partner = rank == first ? second : first;
    bc_images_create(&pair, &coarray, &partner, in_pair ? 1 : 0);
    clear_shared_page();
    if (!in_pair)
        dawdle(500);
    for (int i = 0; i < 10; i++) {
        const double value = i;
        if (in_pair)
            bc_coarray_put(&coarray, partner, i % 2, &value, 1);
        bc_sync_images(&coarray, &pair);
        waited += in_pair && coarray.values[i % 2] != value;
    }
    for (int i = 0; in_pair && i < ranks; i++)
        waited += atomic_load(&shared->late[i]);
    bc_sync_all(&coarray);
    bc_images_destroy(&pair);
    bc_coarray_destroy(&coarray);
    assert_int_equal(waited, 0);
}

/* No one is named, or only this rank: nothing to wait for. */
static void sync_images_with_nobody_returns(void **state)
{
    (void)state;
    int waited = 0, wrong = 0;
    struct bc_coarray coarray;
    struct bc_images none, self;
    const double value = 4.0;
    const int own[] = {rank, rank};
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    bc_images_create(&none, &coarray, NULL, 0);
    bc_images_create(&self, &coarray, own, 2);
    clear_shared_page();
    if (rank == 0)
        dawdle(300);
    bc_coarray_put(&coarray, rank, 0, &value, 1);
    bc_sync_images(&coarray, &none);
    wrong += coarray.values[0] != value;
    bc_sync_images(&coarray, &self);
    waited += rank != 0 && atomic_load(&shared->late[0]);
    bc_sync_all(&coarray);
    bc_images_destroy(&none);
    bc_images_destroy(&self);
    bc_coarray_destroy(&coarray);
    assert_int_equal(waited, 0);
    assert_int_equal(wrong, 0);
}

/* Begins its syncs with `others`, ends them, and returns how many of the others
   had not begun as many with this rank when it was out. */
static int counted_sync(const struct bc_coarray *coarray, const int *others,
                        int count)
{
    int mine[RANKS_MAX], early = 0;
    struct bc_images images;
    bc_images_create(&images, coarray, others, count);
    for (int i = 0; i < count; i++)
        mine[i] = 1 + atomic_fetch_add(&shared->calls[rank][others[i]], 1);
    bc_sync_images(coarray, &images);
    for (int i = 0; i < count; i++)
        early += atomic_load(&shared->calls[others[i]][rank]) < mine[i];
    bc_images_destroy(&images);
    return early;
}

/* Rank 0 synchronises thrice with rank 1 and once with the last one, in between;
   rank 1's second time comes late, when its first message is long there. */
static void unequal_numbers_match_in_order(void **state)
{
    (void)state;
    int early = 0;
    const int last = ranks - 1, zero = 0, one = 1;
    const int both[] = {1, last};
    struct bc_coarray coarray;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    clear_shared_page();
    if (rank == 0) {
        early += counted_sync(&coarray, &one, 1);
        early += counted_sync(&coarray, both, last > 1 ? 2 : 1);
        early += counted_sync(&coarray, &one, 1);
    } else if (rank == 1) {
        early += counted_sync(&coarray, &zero, 1);
        sleep_ms(50);
        early += counted_sync(&coarray, &zero, 1);
        sleep_ms(50);
        early += counted_sync(&coarray, &zero, 1);
    } else if (rank == last) {
        early += counted_sync(&coarray, &zero, 1);
    }
    bc_sync_all(&coarray);
    bc_coarray_destroy(&coarray);
    assert_int_equal(early, 0);
}

/* Stars of random ranks in one order that all know, so no one waits for ever. */
static void random_sets_match_in_order(void **state)
{
    (void)state;
    struct random random = random_from(7);
    const int times = repetitions(1000);
    int early = 0;
    struct bc_coarray coarray;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    clear_shared_page();
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
            sleep_ms(2);
        if (rank == centre)
            early += counted_sync(&coarray, leaves, count);
        else if (leaf)
            early += counted_sync(&coarray, &centre, 1);
    }
    bc_sync_all(&coarray);
    bc_coarray_destroy(&coarray);
    assert_int_equal(early, 0);
}

/* A receive of anything from anyone is under way during all of it. */
static void messages_of_others_do_not_match(void **state)
{
    (void)state;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    const int both[] = {left, right};
    int received = -1;
    MPI_Request request;
    MPI_Status status;
    struct bc_coarray coarray;
    struct bc_images images;
    bc_coarray_create(&coarray, MPI_COMM_WORLD, 1);
    bc_images_create(&images, &coarray, both, 2);
    BC_MPI(MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &request));
    for (int i = 0; i < 3; i++) {
        bc_sync_images(&coarray, &images);
        bc_sync_all(&coarray);
    }
    BC_MPI(MPI_Send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
    BC_MPI(MPI_Wait(&request, &status));
    bc_images_destroy(&images);
    bc_coarray_destroy(&coarray);
    assert_int_equal(received, left);
    assert_int_equal(status.MPI_SOURCE, left);
}

/* ---- mutual exclusion ------------------------------------------------------------------ */

/* A counter on rank 0 of the coarray that only exclusion leaves right. */
static void count_up(const struct bc_coarray *counter)
{
    double value = UNTOUCHED;
    bc_coarray_get(counter, 0, 0, &value, 1);
    bc_sync_memory(counter);
    value += 1.0;
    bc_coarray_put(counter, 0, 0, &value, 1);
    bc_sync_memory(counter);
}

/* Another one that MPI knows nothing of; one inside sees whether it is alone. */
static void count_up_outside(bool linger)
{
    const long total = atomic_load_explicit(&shared->total,
                                            memory_order_relaxed);
    if (atomic_fetch_add(&shared->holders, 1) != 0)
        atomic_fetch_add(&shared->overlaps, 1);
    if (linger)
        sleep_ms(1);
    atomic_fetch_sub(&shared->holders, 1);
    atomic_store_explicit(&shared->total, total + 1, memory_order_relaxed);
}

static void counter_in_a_coarray_is_exact(void **state)
{
    (void)state;
    const int times = repetitions(mode == LATE ? 1000 : 3000);
    struct bc_coarray counter;
    struct bc_mutex mutex;
    bc_coarray_create(&counter, MPI_COMM_WORLD, 1);
    bc_mutex_create(&mutex, MPI_COMM_WORLD);
    for (int i = 0; i < times; i++) {
        bc_mutex_lock(&mutex);
        count_up(&counter);
        bc_mutex_unlock(&mutex);
    }
    bc_sync_all(&counter);
    const double total = counter.values[0];
    bc_mutex_destroy(&mutex);
    bc_coarray_destroy(&counter);
    if (rank == 0)
        assert_near(total, (double)times * ranks, 0.0);
}

static void counter_outside_of_mpi_is_exact(void **state)
{
    (void)state;
    const int times = repetitions(3000);
    struct bc_mutex mutex;
    bc_mutex_create(&mutex, MPI_COMM_WORLD);
    clear_shared_page();
    for (int i = 0; i < times; i++) {
        bc_mutex_lock(&mutex);
        count_up_outside(i % 100 == rank);
        bc_mutex_unlock(&mutex);
    }
    bc_mutex_destroy(&mutex);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    assert_int_equal(atomic_load(&shared->overlaps), 0);
    assert_int_equal(atomic_load(&shared->total), (long)times * ranks);
}

/* The lock is held before any access to a window, and not only at one. */
static void lock_waits_for_the_holder(void **state)
{
    (void)state;
    int early = 0;
    struct bc_mutex mutex;
    bc_mutex_create(&mutex, MPI_COMM_WORLD);
    for (int holder = 0; holder < ranks; holder++) {
        clear_shared_page();
        if (rank == holder)
            bc_mutex_lock(&mutex);
        BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == holder)
            dawdle(20);
        else
            bc_mutex_lock(&mutex);
        early += atomic_load(&shared->late[holder]) == 0;
        bc_mutex_unlock(&mutex);
    }
    bc_mutex_destroy(&mutex);
    assert_int_equal(early, 0);
}

/* The even and the odd ranks, counted backwards, each with theirs: exclusion
   inside, none between. */
static void mutex_of_other_communicators(void **state)
{
    (void)state;
    const int times = repetitions(1000);
    MPI_Comm half;
    int self, size;
    struct bc_coarray counter;
    struct bc_mutex mutex;
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    BC_MPI(MPI_Comm_rank(half, &self));
    BC_MPI(MPI_Comm_size(half, &size));
    bc_coarray_create(&counter, half, 1);
    bc_mutex_create(&mutex, half);
    BC_MPI(MPI_Comm_free(&half));
    for (int i = 0; i < times; i++) {
        bc_mutex_lock(&mutex);
        count_up(&counter);
        bc_mutex_unlock(&mutex);
    }
    bc_sync_all(&counter);
    const double total = counter.values[0];
    /* One of either half holds its own at once. */
    if (self == size - 1)
        bc_mutex_lock(&mutex);
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (self == size - 1)
        bc_mutex_unlock(&mutex);
    bc_mutex_destroy(&mutex);
    bc_coarray_destroy(&counter);
    if (self == 0)
        assert_near(total, (double)times * size, 0.0);
}

/* Two mutexes of the same ranks have nothing to do with each other. */
static void mutexes_are_independent(void **state)
{
    (void)state;
    struct bc_mutex mutexes[2];
    bc_mutex_create(&mutexes[0], MPI_COMM_WORLD);
    bc_mutex_create(&mutexes[1], MPI_COMM_WORLD);
    for (int turn = 0; turn < 3; turn++) {
        if (rank == 0)
            bc_mutex_lock(&mutexes[0]);
        if (rank == ranks - 1)
            bc_mutex_lock(&mutexes[1]);
        BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0)
            bc_mutex_unlock(&mutexes[0]);
        if (rank == ranks - 1)
            bc_mutex_unlock(&mutexes[1]);
    }
    bc_mutex_destroy(&mutexes[0]);
    bc_mutex_destroy(&mutexes[1]);
}

/* ---------------------------------------------------------------------------------------- */

/* The same test under the late MPI. */
#define late_test(test)                                                        \
    {                                                                          \
        #test ", late", (test), be_late, be_library, NULL                      \
    }

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2 || ranks > RANKS_MAX)
        bc_abort("run this on 2 to %d ranks", RANKS_MAX);
    /* One report is enough; failures show on stderr from every rank. */
    if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
        return 1;
    map_shared_page();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_land_where_they_must),
        cmocka_unit_test(gets_come_from_where_they_must),
        cmocka_unit_test(put_sections_leave_gaps_alone),
        cmocka_unit_test(get_sections_leave_gaps_alone),
        late_test(puts_land_where_they_must),
        late_test(gets_come_from_where_they_must),
        late_test(put_sections_leave_gaps_alone),
        late_test(get_sections_leave_gaps_alone),
        cmocka_unit_test(huge_transfers_go_in_pieces),
        cmocka_unit_test(sizes_start_at_zero),
        cmocka_unit_test(new_coarrays_are_clean),
        cmocka_unit_test(creation_synchronises),
        cmocka_unit_test(other_communicators_count_their_own_ranks),
        cmocka_unit_test(sync_all_shows_what_was_put),
        cmocka_unit_test(sync_images_shows_what_was_put),
        cmocka_unit_test(sync_all_shows_what_was_stored),
        cmocka_unit_test(sync_images_shows_what_was_stored),
        late_test(sync_all_shows_what_was_put),
        late_test(sync_images_shows_what_was_put),
        late_test(sync_all_shows_what_was_stored),
        late_test(sync_images_shows_what_was_stored),
        cmocka_unit_test(data_follows_a_chain_of_syncs),
        late_test(data_follows_a_chain_of_syncs),
        cmocka_unit_test(sync_all_waits_for_everyone),
        cmocka_unit_test(sync_images_waits_for_the_named),
        cmocka_unit_test(sync_images_waits_for_no_stranger),
        cmocka_unit_test(sync_images_with_nobody_returns),
        cmocka_unit_test(unequal_numbers_match_in_order),
        cmocka_unit_test(random_sets_match_in_order),
        cmocka_unit_test(messages_of_others_do_not_match),
        cmocka_unit_test(counter_in_a_coarray_is_exact),
        late_test(counter_in_a_coarray_is_exact),
        cmocka_unit_test(counter_outside_of_mpi_is_exact),
        late_test(counter_outside_of_mpi_is_exact),
        cmocka_unit_test(lock_waits_for_the_holder),
        late_test(lock_waits_for_the_holder),
        cmocka_unit_test(mutex_of_other_communicators),
        late_test(mutex_of_other_communicators),
        cmocka_unit_test(mutexes_are_independent),
    };
    int failures = cmocka_run_group_tests_name("coarray", tests, NULL, NULL);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
