/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coarrays (common/coarray/coarray.h) under a model MPI that is as late as the standard lets it: no
 * data moves before a synchronisation completes it, and what a rank hasn't waited for it doesn't
 * see. Run by coarray_test.py on 2 and more ranks; prints each number that isn't as expected.
 */
#include "tests/virtual/clock.h"
#include "tests/virtual/world.h"

#include "common/coarray/coarray.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
enum { RANKS_MAX = 8, SLOT_NS = 1000000 /* for a synchronisation of any of them */ };

static int rank, ranks, wrong;
static int64_t base_ns; /* when the case began, on all ranks */
static struct bc_coarray world_coarray;

static void expect(const char *what, double found, double right)
{
    if (found == right)
        return;
    if (++wrong <= 10)
        (void)printf("rank %d: %s: %.9g, not %.9g\n", rank, what, found, right);
}

static int64_t now(void) { return world_now_ns - base_ns; }

static void begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    base_ns = world_now_ns;
}

/* Lets time pass, in which other ranks continue. */
static void dawdle(int64_t ns)
{
    clock_spend((double)ns);
    world_settle_now();
}

/* ---- what the library may do, and mostly doesn't ----------------------------------------------
 */

/* Memory of a new window holds anything, and one rank is late. */
int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base,
                     MPI_Win *window)
{
    const int code = PMPI_Win_allocate(bytes, unit, info, comm, base, window);
    double *const values = *(double **)base;
    for (MPI_Aint i = 0; i < bytes / (MPI_Aint)sizeof *values; i++)
        values[i] = -3.0;
    if (rank == ranks - 1)
        dawdle(50000);
    return code;
}

/* Values that are swapped are written twice, as Open MPI 4.1.4 does; where several ranks swap the
   same value (rank 0's end of the queue) the model has no room for that. */
int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target,
                     MPI_Aint displacement, MPI_Op op, MPI_Win window)
{
    const int code = PMPI_Fetch_and_op(origin, result, type, target, displacement, op, window);
    if (op != MPI_REPLACE || displacement != 0 || target == rank)
        return code;
    PMPI_Win_flush(target, window);
    dawdle(1000);
    return PMPI_Accumulate(origin, 1, type, target, displacement, 1, type, MPI_REPLACE, window);
}

/* ---- windows --------------------------------------------------------------------------------- */

static void creation(void)
{
    static const int64_t counts[] = {0, 1, 511, 512, 513, 100000};
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int c = 0; c < COUNT(counts); c++) {
        const int64_t count = counts[c];
        struct bc_coarray coarray;
        const double value = 1.0 + rank;
        bc_coarray_create(&coarray, MPI_COMM_WORLD, count);
        expect("values", (double)coarray.count, (double)count);
        for (int64_t i = 0; i < count - 1; i++)
            expect("a new value", coarray.values[i], 0.0);
        if (count > 0)
            bc_coarray_put(&coarray, right, count - 1, &value, 1, MPI_DOUBLE);
        bc_sync_all(&coarray);
        if (count > 0)
            expect("the last value", coarray.values[count - 1], 1.0 + left);
        bc_coarray_destroy(&coarray);
    }
    expect("a page at least", (double)bc_window_bytes(0), 4096.0);
    expect("whole pages", (double)bc_window_bytes(513), 8192.0);
}

/* The even or the odd ranks, counted backwards; their communicator goes before the coarray. */
static void other_communicators(void)
{
    MPI_Comm comm;
    struct bc_coarray coarray;
    struct bc_images left_and_right;
    int self, size;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &size);
    bc_coarray_create(&coarray, comm, 1);
    MPI_Comm_free(&comm);
    const int right = (self + 1) % size;
    const double value = 1.0 + rank;
    bc_images_create(&left_and_right, coarray.comm, (const int[]){(self + size - 1) % size, right},
                     2);
    bc_coarray_put(&coarray, right, 0, &value, 1, MPI_DOUBLE);
    bc_sync_images(&coarray, &left_and_right);
    expect("of the rank above", coarray.values[0], 1.0 + (rank + 2 < ranks ? rank + 2 : rank % 2));
    bc_images_destroy(&left_and_right);
    bc_coarray_destroy(&coarray);
}

/* ---- transfers ------------------------------------------------------------------------------- */

struct shape {
    int64_t blocks, block, stride;
};
enum { MARGIN = 5, VALUES_MAX = 200000 };

/* Rank r's part begins as 1e6 r, 1e6 r + 1, and so on, and so does its buffer; each rank has a slot
   for each other one in either, in which a transfer begins behind a margin. */
static void move_shape(const struct shape *shape, bool put, bool section)
{
    static double buffer[VALUES_MAX];
    const int64_t extent = (int64_t)(shape->blocks - 1) * shape->stride + shape->block;
    const int64_t slot = (extent > 0 ? extent : 0) + (int64_t)2 * MARGIN;
    MPI_Datatype type;
    MPI_Type_vector((int)shape->blocks, (int)shape->block, (int)shape->stride, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    bc_sync_all(&world_coarray);
    for (int64_t i = 0; i < slot * ranks; i++) {
        buffer[i] = put ? 1e6 * rank + (double)i : -1.0;
        world_coarray.values[i] = put ? -1.0 : 1e6 * rank + (double)i;
    }
    bc_sync_all(&world_coarray);
    for (int other = 0; other < ranks; other++) {
        const int64_t there = slot * rank + MARGIN + 1;
        double *const here = buffer + slot * other + MARGIN;
        if (put && section)
            bc_coarray_put(&world_coarray, other, there, here, 1, type);
        else if (put)
            bc_coarray_put(&world_coarray, other, there, here, shape->block, MPI_DOUBLE);
        else if (section)
            bc_coarray_get(&world_coarray, other, there, here, 1, type);
        else
            bc_coarray_get(&world_coarray, other, there, here, shape->block, MPI_DOUBLE);
    }
    bc_sync_all(&world_coarray);
    const double *const moved = put ? world_coarray.values : buffer;
    for (int64_t i = 0; i < slot * ranks; i++) {
        const int64_t other = i / slot, place = i % slot - MARGIN - put;
        const bool inside = place >= 0 && place < extent && place % shape->stride < shape->block;
        const double from = (double)(slot * rank + MARGIN + !put + place);
        expect(put ? "put" : "got", moved[i], inside ? 1e6 * (double)other + from : -1.0);
    }
    MPI_Type_free(&type);
}

static void transfers(void)
{
    static const struct shape shapes[] = {
        {0, 1, 1}, {3, 0, 2},   {1, 0, 1},     {1, 1, 1},     {1, 513, 513}, {1, 20000, 20000},
        {4, 1, 2}, {100, 1, 9}, {33, 17, 129}, {3, 600, 700}, {2, 1, 5000},  {5000, 1, 2},
    };
    for (int i = 0; i < COUNT(shapes); i++)
        for (int put = 0; put <= 1; put++) {
            move_shape(&shapes[i], put, true);
            if (shapes[i].blocks == 1)
                move_shape(&shapes[i], put, false);
        }
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

/* Each rank puts what it has seen, and one more, to the next one; rank 0 has the count of all in
   the end. Beside it rank 0 puts to the last rank, which hears of it through those between only. */
static void chain(void)
{
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    struct bc_images before, after;
    bc_images_create(&before, world_coarray.comm, &left, 1);
    bc_images_create(&after, world_coarray.comm, &right, 1);
    for (int64_t i = 0; i < 2; i++)
        world_coarray.values[i] = 0.0;
    bc_sync_all(&world_coarray);
    for (int i = 1; i <= 10; i++) {
        const double news = i;
        if (rank > 0)
            bc_sync_images(&world_coarray, &before);
        if (rank == ranks - 1)
            expect("news", world_coarray.values[1], news);
        const double hands = world_coarray.values[0] + 1.0;
        bc_coarray_put(&world_coarray, right, 0, &hands, 1, MPI_DOUBLE);
        if (rank == 0)
            bc_coarray_put(&world_coarray, ranks - 1, 1, &news, 1, MPI_DOUBLE);
        bc_sync_images(&world_coarray, &after);
        if (rank == 0) {
            bc_sync_images(&world_coarray, &before);
            expect("hands", world_coarray.values[0], (double)i * ranks);
        }
    }
    bc_images_destroy(&before);
    bc_images_destroy(&after);
}

/* A rank and some others, drawn alike on all ranks, synchronise at times that are drawn: the one
   waits for all of these, each of these for the one, and nobody for the next draw. Ranks that are
   named twice, and oneself, don't count; nor does a message of somebody else. */
static void stars(void)
{
    uint64_t state = 7;
    int received = -1;
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    begin();
    for (int64_t i = 0; i < 100; i++) {
        const int centre = (int)(world_random(&state) * ranks);
        int named[2 * RANKS_MAX + 1], count = 0;
        int64_t comes_ns[RANKS_MAX] = {0}, last_ns = 0;
        bool is_in[RANKS_MAX] = {false};
        for (int r = 0; r < ranks; r++) {
            comes_ns[r] = i * SLOT_NS + (int64_t)(world_random(&state) * 0.5 * SLOT_NS);
            is_in[r] = r == centre || world_random(&state) < 0.5;
            if (rank == centre ? is_in[r] : r == centre || r == rank)
                named[count++] = r;
        }
        if (!is_in[rank])
            continue;
        for (int n = count; n > 0; n--) {
            const int other = named[n - 1];
            last_ns = comes_ns[other] > last_ns ? comes_ns[other] : last_ns;
            named[count++] = other;
        }
        struct bc_images images;
        bc_images_create(&images, world_coarray.comm, named, count);
        const int partners = count / 2 - 1;
        expect("partners", images.count, partners);
        clock_until(base_ns + comes_ns[rank]);
        bc_sync_images(&world_coarray, &images);
        expect("waited for all", now() >= last_ns, true);
        expect("waited for no one else", now() < last_ns + SLOT_NS / 10, true);
        bc_images_destroy(&images);
    }
    bc_sync_all(&world_coarray);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("the message", received, (rank + ranks - 1) % ranks);
}

/* ---- mutual exclusion ------------------------------------------------------------------------ */

/* A counter that only exclusion leaves right, as ranks come at random times. */
static void exclusion(void)
{
    enum { TIMES = 50 };
    struct bc_mutex mutex;
    struct bc_queue_lock queue;
    uint64_t state = 1 + (uint64_t)rank;
    bc_mutex_create(&mutex, MPI_COMM_WORLD);
    bc_queue_lock_create(&queue, MPI_COMM_WORLD);
    world_coarray.values[0] = world_coarray.values[1] = 0.0;
    bc_sync_all(&world_coarray);
    for (int i = 0; i < 2 * TIMES; i++) {
        const bool by_queue = i % 2 == 1;
        double value;
        clock_sleep((int64_t)(world_random(&state) * 20000.0 * ranks));
        if (by_queue)
            bc_queue_lock_acquire(&queue);
        else
            bc_mutex_lock(&mutex);
        bc_coarray_get(&world_coarray, 0, by_queue, &value, 1, MPI_DOUBLE);
        bc_sync_memory(&world_coarray);
        value += 1.0;
        bc_coarray_put(&world_coarray, 0, by_queue, &value, 1, MPI_DOUBLE);
        bc_sync_memory(&world_coarray);
        if (by_queue)
            bc_queue_lock_release(&queue);
        else
            bc_mutex_unlock(&mutex);
    }
    bc_sync_all(&world_coarray);
    for (int i = 0; rank == 0 && i < 2; i++)
        expect("counted", world_coarray.values[i], (double)TIMES * ranks);
    bc_queue_lock_destroy(&queue);
    bc_mutex_destroy(&mutex);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bc_coarray_create(&world_coarray, MPI_COMM_WORLD, VALUES_MAX);
    creation();
    other_communicators();
    transfers();
    chain();
    stars();
    exclusion();
    bc_coarray_destroy(&world_coarray);
    (void)fflush(stdout);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong > 0;
}
