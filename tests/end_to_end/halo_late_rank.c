/*
 * Does a swap wait for those that it must wait for? Each rank in turn is late: its box is not ready
 * and its halo still in use when the other one begins. And rank 1 is slow to read where faces are
 * copied, while rank 0 changes its box as soon as its swap has returned. --check of halo can't see
 * this, since it is a matter of time. To be run on 2 ranks, linked in place of halo/swap/copy.c.
 *
 * A rank has the same value everywhere, so it doesn't matter which face is brought where.
 */
#include "common/mpi/mpi_check.h"
#include "common/run/benchmark.h"
#include "halo/swap/methods.h"

#include <stdio.h>
#include <time.h>

enum { SWAPS = 8 };

#define IN_USE (-1.0)  /* the halo's values before a swap */
#define CHANGED (-2.0) /* the box's values after it */

static int this_rank;

/* ---- copying, by the slow -------------------------------------------------------------------- */

static void be_slow(void)
{
    const struct timespec duration = {0, 5000000};
    nanosleep(&duration, NULL);
}

static int64_t values_of(const struct halo_region *region)
{
    return region->extent[0] * region->extent[1] * region->extent[2];
}

static int64_t place_of(const struct halo_box *box, const struct halo_region *region, int64_t i)
{
    int64_t position[HALO_DIRECTIONS];
    for (int d = HALO_DIRECTIONS - 1; d >= 0; d--) {
        position[d] = region->start[d] + i % region->extent[d];
        i /= region->extent[d];
    }
    return halo_place(box, position);
}

void halo_pack(const struct halo_box *box, const struct halo_region *region, const double *values,
               double *buffer)
{
    for (int64_t i = 0; i < values_of(region); i++)
        buffer[i] = values[place_of(box, region, i)];
}

void halo_unpack(const struct halo_box *box, const struct halo_region *region, const double *buffer,
                 double *values)
{
    for (int64_t i = 0; i < values_of(region); i++)
        values[place_of(box, region, i)] = buffer[i];
}

void halo_copy(const struct halo_box *box, const struct halo_region *from, const double *source,
               const struct halo_region *to, double *destination)
{
    if (this_rank == 1)
        be_slow();
    for (int64_t i = 0; i < values_of(from); i++)
        destination[place_of(box, to, i)] = source[place_of(box, from, i)];
}

/* ---- swaps ----------------------------------------------------------------------------------- */

static void fill(const struct halo_exchange *x, double box_value)
{
    for (int64_t i = 0; i < halo_array_values(&x->box); i++)
        x->values[i] = IN_USE;
    for (int face = 0; face < HALO_FACES; face++)
        for (int64_t i = 0; i < values_of(&x->sent[face]); i++)
            x->values[place_of(&x->box, &x->sent[face], i)] = box_value;
}

static void change_box(const struct halo_exchange *x)
{
    for (int face = 0; face < HALO_FACES; face++)
        for (int64_t i = 0; i < values_of(&x->sent[face]); i++)
            x->values[place_of(&x->box, &x->sent[face], i)] = CHANGED;
}

/* In MPI calls, in which the library serves puts and gets of others. */
static void be_late(void)
{
    const double end_s = MPI_Wtime() + 0.02;
    int flag;
    while (MPI_Wtime() < end_s)
        BC_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

static double value_of(int rank, int swap) { return 2.0 * swap + rank; }

static int count_wrong(const struct halo_exchange *x, int swap)
{
    int wrong = 0;
    for (int face = 0; face < HALO_FACES; face++)
        for (int64_t i = 0; i < values_of(&x->received[face]); i++)
            wrong += x->values[place_of(&x->box, &x->received[face], i)] !=
                     value_of(x->grid.neighbours[face], swap);
    return wrong;
}

static void swap_at_once(const struct halo_method *method, const struct halo_exchange *exchange)
{
    method->swap(exchange);
}

static void swap_in_parts(const struct halo_method *method, const struct halo_exchange *exchange)
{
    method->start(exchange);
    method->finish(exchange);
}

static void swap_tested(const struct halo_method *method, const struct halo_exchange *exchange)
{
    MPI_Status statuses[2 * HALO_FACES];
    int done = 0;
    method->start(exchange);
    while (!done)
        BC_MPI(MPI_Testall(exchange->request_count, exchange->requests, &done, statuses));
    method->finish(exchange);
}

static void swap_blocking(const struct halo_method *method, const struct halo_exchange *exchange)
{
    method->blocking(exchange);
}

/* The first way is of all methods, the others of those with a start. */
static const struct way {
    const char *name;
    void (*swap)(const struct halo_method *method, const struct halo_exchange *exchange);
} ways[] = {
    {"at once", swap_at_once},
    {"in parts", swap_in_parts},
    {"in parts with tests", swap_tested},
    {"blocking", swap_blocking},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The wrong values that this rank sees in swaps by one method. */
static int swap_late(const struct halo_method *method, const struct way *way,
                     struct halo_exchange *exchange)
{
    int wrong = 0;
    method->create(exchange);
    for (int swap = 0; swap < SWAPS; swap++) {
        if (swap % 2 == this_rank)
            be_late();
        fill(exchange, value_of(this_rank, swap));
        way->swap(method, exchange);
        change_box(exchange);
        wrong += count_wrong(exchange, swap);
    }
    method->destroy(exchange);
    return wrong;
}

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    (void)state;
    return run->job.ranks == 2 || bc_error_set(error, "needs 2 ranks");
}

static void swap_by_all_methods(void *state, struct bc_run *run)
{
    static const int dims[] = {2, 1, 1}, periodic[] = {1, 1, 1};
    const struct halo_box box = {{4, 4, 4}};
    MPI_Comm comm;
    (void)state;
    this_rank = run->job.rank;
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, HALO_DIRECTIONS, dims, periodic, 0, &comm));
    const struct halo_grid grid = halo_grid_of(dims, this_rank);
    for (int i = 0; i < HALO_METHODS; i++) {
        const struct halo_method *const method = halo_methods[i];
        if (method->shares_node && run->job.nodes > 1)
            continue;
        for (int w = 0; w < (method->start != NULL ? WAYS : 1); w++) {
            struct halo_exchange exchange;
            halo_exchange_init(&exchange, &box, &grid, comm, run->job.node_comm);
            int wrong = swap_late(method, &ways[w], &exchange);
            BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, comm));
            if (this_rank == 0)
                printf("%s, sync %s, %s: %d wrong values\n", method->name,
                       halo_sync_names[method->sync], ways[w].name, wrong);
            run->failed = run->failed || wrong > 0;
        }
    }
    BC_MPI(MPI_Comm_free(&comm));
}

const struct bc_benchmark halo_late_rank_benchmark = {
    .name = "halo_late_rank",
    .summary = "Checks that swaps wait for late ranks.",
    .fit = fit,
    .open = swap_by_all_methods,
};
