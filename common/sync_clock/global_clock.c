/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/sync_clock/global_clock.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/sync_clock/clock_pair.h"

#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A model is fitted to at least EXCHANGES_MIN exchanges. */
enum { RUNS = BC_PAIR_RUNS, EXCHANGES_MIN = 2 * RUNS };

/* Time of a pair, unless the time for all pairs makes it shorter, and its time in an update: enough
   for a thousand round trips within a node, and for hundreds between nodes. */
#define PAIR_S 0.02
#define UPDATE_PAIR_S 0.005
#define PAIR_MIN_S 0.001
/* The share of the time for all pairs that measuring may take; the rest is waiting. */
#define MEASURING_SHARE 0.4

/* If in oversubscribed jobs the clock's error may exceed CROWDED_ERROR_NS, all pairs measure again
   while there is time; CROWDED_MEASUREMENTS times the time of a measurement is kept for that. */
#define CROWDED_ERROR_NS 100.0
#define CROWDED_MEASUREMENTS 3.0

/* This rank's clock against rank 0's. */
struct measured_clock {
    struct bc_clock_model model;
    double error_ns, growth;     /* as in struct bc_clock_model_quality */
    double bound_ns;             /* maximum error just after the measurement */
    struct bc_clock_bound bound; /* maximum error at any time, only with BC_WHOLE_PAST */
};

struct bc_global_clock {
    struct bc_clock_tree leaders, node;
    int node_at_once; /* pairs of the node that may measure at the same time */
    struct bc_clock_pair pair;
    unsigned options;
    bool one_clock; /* compared with a rank of its node whose clock it seems to read */
    struct bc_exchange exchanges[BC_EXCHANGES_MAX]; /* with that rank, in ascending order of time */
    size_t count;
    size_t consistent; /* the newest exchanges, to which the model is fitted */
    struct measured_clock known;
    double reading_ns; /* the cost of a reading */
    double took_s;
};

/* ---- trees ----------------------------------------------------------------------------------- */

/* Returns the number of pairs of a step in a tree of this size. */
static int pair_count(int size, int step) { return size - step < step ? size - step : step; }

/* Returns the number of turns in which all pairs of a tree measure. */
static int turns(int size, int at_once)
{
    int sum = 0;
    for (int step = 1; step < size; step *= 2)
        sum += (pair_count(size, step) + at_once - 1) / at_once;
    return sum;
}

/* Drops a measurement if there is no space for a further one. The oldest one stays as long as the
   model is fitted to it, since the drift depends on it. */
static void make_space(struct bc_global_clock *clock)
{
    if (clock->count + RUNS <= BC_EXCHANGES_MAX)
        return;
    const bool stays = (clock->options & BC_WHOLE_PAST) != 0 || clock->consistent == clock->count;
    const size_t stay = stays ? RUNS : 0;
    clock->count -= RUNS;
    memmove(clock->exchanges + stay, clock->exchanges + stay + RUNS,
            (clock->count - stay) * sizeof *clock->exchanges);
}

static void measure_pair(struct bc_global_clock *clock, const struct bc_clock_tree *tree, int peer,
                         bool is_reference, double seconds)
{
    if (!is_reference)
        make_space(clock);
    clock->count += bc_pair_measure(&clock->pair, tree, peer, is_reference, seconds,
                                    clock->exchanges + clock->count);
}

/* Measures the pairs `first` to `end` - 1. */
static void take_turn(struct bc_global_clock *clock, const struct bc_clock_tree *tree, int step,
                      int first, int end, double seconds)
{
    if (tree->rank >= first && tree->rank < end)
        measure_pair(clock, tree, tree->rank + step, true, seconds);
    else if (tree->rank - step >= first && tree->rank - step < end)
        measure_pair(clock, tree, tree->rank - step, false, seconds);
}

static void measure_leaders(struct bc_global_clock *clock, double seconds)
{
    const struct bc_clock_tree *const tree = &clock->leaders;
    for (int step = 1; step < tree->size; step *= 2)
        take_turn(clock, tree, step, 0, pair_count(tree->size, step), seconds);
}

/* Measures the node's pairs. On crowded nodes all other pairs sleep meanwhile. */
static void measure_node(struct bc_global_clock *clock, double seconds)
{
    const struct bc_clock_tree *const tree = &clock->node;
    if (clock->pair.shares_processors)
        bc_harness_barrier(tree->comm);
    for (int step = 1; step < tree->size; step *= 2)
        for (int first = 0; first < pair_count(tree->size, step); first += clock->node_at_once) {
            const int pairs = pair_count(tree->size, step), end = first + clock->node_at_once;
            take_turn(clock, tree, step, first, end < pairs ? end : pairs, seconds);
            if (clock->pair.shares_processors)
                bc_harness_barrier(tree->comm);
        }
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Fits the model against the rank that this one is compared with. */
static void learn(struct bc_global_clock *clock)
{
    struct measured_clock *const known = &clock->known;
    struct bc_clock_model_quality quality;
    clock->one_clock = clock->node.rank > 0 && (clock->options & BC_EVERY_RANK) == 0 &&
                       bc_may_be_one_clock(clock->exchanges, clock->count);
    *known = (struct measured_clock){.model.at_ns = bc_now_ns()};
    if (clock->count == 0)
        return;
    if (!clock->one_clock) {
        /* Earlier exchanges are kept: a disturbance may have made them look inconsistent, and later
           ones may make them consistent again. */
        const size_t min = (clock->options & BC_WHOLE_PAST) != 0 ? clock->count : EXCHANGES_MIN;
        clock->consistent = bc_clock_model_consistent(clock->exchanges, clock->count, min);
        known->model = bc_clock_model_fit(clock->exchanges + clock->count - clock->consistent,
                                          clock->consistent, &quality);
        /* Each timestamp was taken at some moment within a reading of the clock, and an offset is
           half the difference of two delays, which have two timestamps each. */
        known->error_ns = quality.error_ns + clock->reading_ns;
        known->growth = quality.growth + BC_RATE_CHANGE;
    }
    known->bound = bc_clock_model_bound(
        clock->exchanges, clock->count, &known->model,
        clock->one_clock ? 0.0 : BC_RATE_DIFFERENCE + fabs(known->model.drift));
    known->bound_ns = clock->one_clock ? 0.0 : known->bound.last_error_ns;
    known->bound.first_error_ns += clock->reading_ns;
    known->bound.last_error_ns += clock->reading_ns;
}

/* Chains the model of the rank above against rank 0 with this rank's model against that rank. */
static void chain(struct measured_clock *known, const struct measured_clock *above)
{
    struct bc_clock_bound *const bound = &known->bound;
    bound->first_error_ns +=
        bc_clock_bound_ns(&above->bound, bc_clock_model_reference(&known->model, bound->first_ns));
    bound->last_error_ns +=
        bc_clock_bound_ns(&above->bound, bc_clock_model_reference(&known->model, bound->last_ns));
    bound->between += above->bound.between;
    bound->outside += above->bound.outside;
    known->model = bc_clock_model_chain(&above->model, &known->model);
    known->error_ns += above->error_ns;
    known->growth += above->growth;
    known->bound_ns += above->bound_ns;
}

/* Hands the models against rank 0 down a tree. */
static void hand_down_tree(struct bc_global_clock *clock, const struct bc_clock_tree *tree)
{
    struct measured_clock above = {.error_ns = 0.0};
    const bool with_bound = (clock->options & BC_WHOLE_PAST) != 0;
    const size_t bytes = with_bound ? sizeof above : offsetof(struct measured_clock, bound);
    for (int step = 1; step < tree->size; step *= 2) {
        if (tree->rank < pair_count(tree->size, step)) {
            bc_pair_send(tree, &clock->known, bytes, tree->rank + step);
        } else if (tree->rank >= step && tree->rank < 2 * step) {
            bc_pair_receive(&clock->pair, tree, &above, bytes, tree->rank - step);
            chain(&clock->known, &above);
        }
    }
}

static void measure_all(struct bc_global_clock *clock, double pair_s)
{
    measure_leaders(clock, pair_s);
    measure_node(clock, pair_s);
}

static void hand_down(struct bc_global_clock *clock)
{
    hand_down_tree(clock, &clock->leaders);
    hand_down_tree(clock, &clock->node);
}

static void measure_and_learn(struct bc_global_clock *clock, double pair_s)
{
    measure_all(clock, pair_s);
    /* All ranks fit at the same time, before a rank waits for the rank above. */
    learn(clock);
    hand_down(clock);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static struct bc_clock_tree tree_of(MPI_Comm comm)
{
    struct bc_clock_tree tree = {.comm = comm};
    if (comm != MPI_COMM_NULL) {
        BC_MPI(MPI_Comm_rank(comm, &tree.rank));
        BC_MPI(MPI_Comm_size(comm, &tree.size));
    }
    return tree;
}

void bc_global_clock_connect(struct bc_global_clock *clock, const struct bc_job *job)
{
    MPI_Comm node, leaders;
    const int at_once = job->min_allowed_processors / 2;
    BC_MPI(MPI_Comm_dup(job->node_comm, &node));
    clock->node = tree_of(node);
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, clock->node.rank == 0 ? 0 : MPI_UNDEFINED, job->rank,
                          &leaders));
    clock->leaders = tree_of(leaders);
    clock->node_at_once = at_once > 0 ? at_once : 1;
    clock->pair.shares_processors = job->oversubscribed;
}

void bc_global_clock_disconnect(struct bc_global_clock *clock)
{
    if (clock->leaders.comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&clock->leaders.comm));
    BC_MPI(MPI_Comm_free(&clock->node.comm));
}

/* Returns true if all ranks read one clock, so that there is no drift to find. Collective. */
static bool is_one_clock_everywhere(const struct bc_global_clock *clock)
{
    int one = clock->count == 0 || clock->one_clock;
    bc_harness_allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return one != 0;
}

/* Returns true if ranks share processors and have to measure again. Collective. */
static bool measures_again(const struct bc_global_clock *clock, double end_s)
{
    if (!clock->pair.shares_processors)
        return false;
    int flags[2] = {clock->known.error_ns > CROWDED_ERROR_NS, /* may be off */
                    bc_elapsed_s() > end_s};                  /* has no time left */
    bc_harness_allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return flags[0] != 0 && flags[1] == 0;
}

struct bc_global_clock *bc_global_clock_create(const struct bc_job *job, double seconds,
                                               unsigned options)
{
    const double start_s = bc_elapsed_s();
    struct bc_global_clock *const clock =
        bc_allocate(1, sizeof *clock, "no memory for the global clock");
    clock->options = options;
    clock->reading_ns = bc_clock_measure().read_ns;
    bc_global_clock_connect(clock, job);
    /* This need not be the same on every rank. */
    const int all = turns(clock->node.size, clock->node_at_once) + turns(job->nodes, job->nodes);
    const double share_s = MEASURING_SHARE / 2.0 * seconds / fmax(all, 1.0);
    const double pair_s = fmax(PAIR_MIN_S, fmin(PAIR_S, share_s));
    measure_all(clock, pair_s);
    const double measuring_s = bc_elapsed_s() - start_s;
    const double measurements = clock->pair.shares_processors ? CROWDED_MEASUREMENTS : 1.0;
    learn(clock);
    if (is_one_clock_everywhere(clock)) {
        hand_down(clock);
        clock->took_s = bc_elapsed_s() - start_s;
        return clock;
    }
    const double wait_s = start_s + seconds - measurements * measuring_s - bc_elapsed_s();
    if (wait_s > 0.0)
        bc_sleep_ns((int64_t)(wait_s * 1e9));
    do {
        measure_and_learn(clock, pair_s);
    } while (measures_again(clock, start_s + seconds - measuring_s));
    clock->took_s = bc_elapsed_s() - start_s;
    return clock;
}

void bc_global_clock_update(struct bc_global_clock *clock)
{
    const double start_s = bc_elapsed_s();
    measure_and_learn(clock, UPDATE_PAIR_S);
    clock->took_s = bc_elapsed_s() - start_s;
}

const struct bc_clock_model *bc_global_clock_model(const struct bc_global_clock *clock)
{
    return &clock->known.model;
}

const struct bc_clock_bound *bc_global_clock_bound(const struct bc_global_clock *clock)
{
    return &clock->known.bound;
}

double bc_global_clock_error_ns(const struct bc_global_clock *clock, int64_t now_ns)
{
    const struct measured_clock *const known = &clock->known;
    return known->error_ns + known->growth * (double)(now_ns - known->model.at_ns);
}

struct bc_global_clock_report bc_global_clock_report(const struct bc_global_clock *clock)
{
    const struct measured_clock *const known = &clock->known;
    double max[] = {known->error_ns, known->growth, known->bound_ns, clock->took_s};
    int shared = clock->one_clock && clock->count > 0;
    bc_harness_allreduce(MPI_IN_PLACE, max, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    bc_harness_allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (struct bc_global_clock_report){max[0], max[1], max[2], max[3], shared};
}

void bc_global_clock_destroy(struct bc_global_clock *clock)
{
    if (clock == NULL)
        return;
    bc_global_clock_disconnect(clock);
    free(clock);
}
