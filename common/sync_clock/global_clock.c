#include "common/sync_clock/global_clock.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/sync_clock/pairs.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* A pair measures in RUNS runs of round trips, which its ranks begin in turn; each run is an
   exchange. A run has up to ROUNDS_MAX messages in each direction. A model is fitted to at least
   EXCHANGES_MIN exchanges. */
enum { RUNS = 8, ROUNDS_MAX = 400, ROUNDS_MIN = 10, EXCHANGES_MIN = 2 * RUNS };

/* The time of a pair, unless the time for all pairs makes it shorter; and its time in an update. It
   is enough for a thousand round trips within a node, and hundreds between nodes. */
#define PAIR_S 0.02
#define UPDATE_PAIR_S 0.005
#define PAIR_MIN_S 0.001
/* The share of the time for all pairs that measuring may take; the rest is waiting. */
#define MEASURING_SHARE 0.4

/* If in oversubscribed jobs the clock's error may exceed CROWDED_ERROR_NS, all pairs measure again
   while there is time; CROWDED_MEASUREMENTS times the time of a measurement is kept for that. */
#define CROWDED_ERROR_NS 100.0
#define CROWDED_MEASUREMENTS 3.0

/* The errors of a known clock, as in struct bc_clock_model_quality. */
enum { ESTIMATE, BOUND };

struct bc_global_clock {
    struct bc_pair_trees trees;
    struct bc_pair_reader reader;
    int node_at_once; /* pairs of the node that may measure at the same time */
    bool shares_processors, every_rank;
    bool one_clock; /* compared with a rank of its node whose clock it seems to read */
    struct bc_exchange exchanges[BC_EXCHANGES_MAX]; /* with that rank, in order */
    size_t count;
    size_t consistent;           /* the newest exchanges, to which the model is fitted */
    struct bc_known_clock known; /* against rank 0 */
    double reading_ns;           /* the cost of a reading */
    double took_s;
    struct bc_timestamps timestamps[ROUNDS_MAX]; /* of the messages received in one run */
};

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Drops a measurement where there is no space for another. The oldest one stays as long as the
   model is fitted to it, since the drift depends on it. */
static void make_space(struct bc_global_clock *clock)
{
    if (clock->count + RUNS <= BC_EXCHANGES_MAX)
        return;
    const size_t stay = clock->consistent == clock->count ? RUNS : 0;
    clock->count -= RUNS;
    memmove(clock->exchanges + stay, clock->exchanges + stay + RUNS,
            (clock->count - stay) * sizeof *clock->exchanges);
}

/* Measures a pair. The rank that is compared with the reference gets both hulls of each run. */
static void measure_pair(struct bc_global_clock *clock, const struct bc_pair_tree *tree, int peer,
                         bool is_reference, double seconds)
{
    const struct bc_pair_run limits = {ROUNDS_MIN, ROUNDS_MAX, seconds / RUNS};
    char ready = 0;
    if (!is_reference)
        bc_pair_send(tree, &ready, 1, peer);
    bc_pair_receive(&clock->reader, tree, &ready, 1, peer);
    if (is_reference)
        bc_pair_send(tree, &ready, 1, peer);
    else
        make_space(clock);
    for (int run = 0; run < RUNS; run++) {
        struct bc_hull hull;
        const bool begins = (run % 2 == 0) == is_reference;
        if (clock->shares_processors && begins)
            bc_sleep_ns(BC_PAIR_NAP_NS);
        const size_t count =
            bc_pair_round_trips(&clock->reader, tree, peer, begins, &limits, clock->timestamps);
        bc_hull_find(clock->timestamps, count, &hull);
        if (is_reference) {
            bc_pair_send(tree, &hull, sizeof hull, peer);
            continue;
        }
        struct bc_exchange *const new = &clock->exchanges[clock->count++];
        new->there = hull;
        bc_pair_receive(&clock->reader, tree, &new->back, sizeof new->back, peer);
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* The number of turns in which all pairs of a tree measure. */
static int turns(int size, int at_once)
{
    int sum = 0;
    for (int step = 1; step < size; step *= 2)
        sum += (bc_pair_count(size, step) + at_once - 1) / at_once;
    return sum;
}

/* The pairs first, first + 1 ... measure, up to `end`. */
static void take_turn(struct bc_global_clock *clock, const struct bc_pair_tree *tree, int step,
                      int first, int end, double seconds)
{
    if (tree->rank >= first && tree->rank < end)
        measure_pair(clock, tree, tree->rank + step, true, seconds);
    else if (tree->rank - step >= first && tree->rank - step < end)
        measure_pair(clock, tree, tree->rank - step, false, seconds);
}

static void measure_leaders(struct bc_global_clock *clock, double seconds)
{
    const struct bc_pair_tree *const tree = &clock->trees.leaders;
    for (int step = 1; step < tree->size; step *= 2)
        take_turn(clock, tree, step, 0, bc_pair_count(tree->size, step), seconds);
}

/* On crowded nodes pairs wait, asleep, for those that measure. */
static void measure_node(struct bc_global_clock *clock, double seconds)
{
    const struct bc_pair_tree *const tree = &clock->trees.node;
    if (clock->shares_processors)
        bc_harness_barrier(tree->comm);
    for (int step = 1; step < tree->size; step *= 2)
        for (int first = 0; first < bc_pair_count(tree->size, step); first += clock->node_at_once) {
            const int pairs = bc_pair_count(tree->size, step), end = first + clock->node_at_once;
            take_turn(clock, tree, step, first, end < pairs ? end : pairs, seconds);
            if (clock->shares_processors)
                bc_harness_barrier(tree->comm);
        }
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Sets what is known against the rank that this one is compared with. */
static void learn(struct bc_global_clock *clock)
{
    struct bc_clock_model_quality quality;
    clock->one_clock = clock->trees.node.rank > 0 && !clock->every_rank &&
                       bc_may_be_one_clock(clock->exchanges, clock->count);
    clock->known = (struct bc_known_clock){.model.at_ns = bc_now_ns()};
    if (clock->count == 0 || clock->one_clock)
        return;
    /* The exchanges before these are kept: a disturbance may have made them look inconsistent, and
       later ones may make them consistent again. */
    clock->consistent = bc_clock_model_consistent(clock->exchanges, clock->count, EXCHANGES_MIN);
    clock->known.model = bc_clock_model_fit(clock->exchanges + clock->count - clock->consistent,
                                            clock->consistent, &quality);
    /* Each timestamp was taken at some moment within a reading of the clock, and an offset is half
       the difference of two delays, which have two timestamps each. */
    clock->known.error_ns[ESTIMATE] = quality.error_ns + clock->reading_ns;
    clock->known.growth = quality.growth + BC_RATE_CHANGE;
    clock->known.error_ns[BOUND] = quality.bound_ns;
}

static void measure_all(struct bc_global_clock *clock, double pair_s)
{
    measure_leaders(clock, pair_s);
    measure_node(clock, pair_s);
}

static void hand_down(struct bc_global_clock *clock)
{
    bc_pair_hand_down(&clock->reader, &clock->trees.leaders, &clock->known);
    bc_pair_hand_down(&clock->reader, &clock->trees.node, &clock->known);
}

static void measure_and_learn(struct bc_global_clock *clock, double pair_s)
{
    measure_all(clock, pair_s);
    /* All ranks do this at the same time, before any waits for the rank above. */
    learn(clock);
    hand_down(clock);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void make_trees(struct bc_global_clock *clock, const struct bc_job *job)
{
    MPI_Comm node;
    const int at_once = job->min_allowed_processors / 2;
    BC_MPI(MPI_Comm_dup(job->node_comm, &node));
    clock->trees = bc_pair_trees_make(MPI_COMM_WORLD, node);
    clock->node_at_once = at_once > 0 ? at_once : 1;
    clock->shares_processors = job->oversubscribed;
    clock->reader = (struct bc_pair_reader){.now_ns = bc_now_ns,
                                            .looks = job->oversubscribed ? BC_PAIR_LOOKS : 0};
}

/* Whether all ranks read one clock, so that there is no drift to find. Collective. */
static bool is_one_clock_everywhere(const struct bc_global_clock *clock)
{
    int one = clock->count == 0 || clock->one_clock;
    bc_harness_allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return one != 0;
}

/* Whether to measure again, where ranks share processors. Collective. */
static bool measures_again(const struct bc_global_clock *clock, double end_s)
{
    if (!clock->shares_processors)
        return false;
    int flags[2] = {clock->known.error_ns[ESTIMATE] > CROWDED_ERROR_NS, /* may be off */
                    bc_elapsed_s() > end_s};                            /* has no time left */
    bc_harness_allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return flags[0] != 0 && flags[1] == 0;
}

struct bc_global_clock *bc_global_clock_create(const struct bc_job *job, double seconds,
                                               bool every_rank)
{
    const double start_s = bc_elapsed_s();
    struct bc_global_clock *const clock =
        bc_allocate(1, sizeof *clock, "no memory for the global clock");
    clock->every_rank = every_rank;
    clock->reading_ns = bc_clock_measure().read_ns;
    make_trees(clock, job);
    /* This need not be the same on every rank. */
    const int all =
        turns(clock->trees.node.size, clock->node_at_once) + turns(job->nodes, job->nodes);
    const double share_s = MEASURING_SHARE / 2.0 * seconds / fmax(all, 1.0);
    const double pair_s = fmax(PAIR_MIN_S, fmin(PAIR_S, share_s));
    measure_all(clock, pair_s);
    const double measuring_s = bc_elapsed_s() - start_s;
    const double measurements = clock->shares_processors ? CROWDED_MEASUREMENTS : 1.0;
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

double bc_global_clock_error_ns(const struct bc_global_clock *clock, int64_t now_ns)
{
    const struct bc_known_clock *const known = &clock->known;
    return known->error_ns[ESTIMATE] + known->growth * (double)(now_ns - known->model.at_ns);
}

struct bc_global_clock_report bc_global_clock_report(const struct bc_global_clock *clock)
{
    const struct bc_known_clock *const known = &clock->known;
    double max[] = {known->error_ns[ESTIMATE], known->growth, known->error_ns[BOUND],
                    clock->took_s};
    int shared = clock->one_clock && clock->count > 0;
    bc_harness_allreduce(MPI_IN_PLACE, max, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    bc_harness_allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (struct bc_global_clock_report){max[0], max[1], max[2], max[3], shared};
}

void bc_global_clock_destroy(struct bc_global_clock *clock)
{
    if (clock == NULL)
        return;
    bc_pair_trees_free(&clock->trees);
    free(clock);
}
