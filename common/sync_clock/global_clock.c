#include "common/sync_clock/global_clock.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/sync_clock/pairs.h"

#include <math.h>
#include <stdlib.h>

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

struct bc_global_clock {
    struct bc_pair_clock pairs;
    double took_s;
};

/* Whether to measure again, where ranks share processors. Collective. */
static bool measures_again(const struct bc_pair_clock *pairs, double end_s)
{
    if (!pairs->naps)
        return false;
    int flags[2] = {pairs->known.error_ns > CROWDED_ERROR_NS, /* may be off */
                    bc_elapsed_s() > end_s};                  /* has no time left */
    bc_harness_allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return flags[0] != 0 && flags[1] == 0;
}

static void make_pairs(struct bc_pair_clock *pairs, const struct bc_job *job, bool every_rank)
{
    const int at_once = job->min_allowed_processors / 2;
    MPI_Comm node;
    *pairs = (struct bc_pair_clock){
        .now_ns = bc_now_ns,
        .reading_ns = bc_clock_measure().read_ns,
        .looks = job->oversubscribed ? BC_PAIR_LOOKS : 0,
        .naps = job->oversubscribed,
        .barrier = job->oversubscribed ? bc_harness_barrier : NULL,
        .node_at_once = at_once > 0 ? at_once : 1,
        .every_rank = every_rank,
        .growth_max = INFINITY,
        .rate_change = BC_RATE_CHANGE,
    };
    BC_MPI(MPI_Comm_dup(job->node_comm, &node));
    bc_pair_clock_make(pairs, MPI_COMM_WORLD, node);
}

struct bc_global_clock *bc_global_clock_create(const struct bc_job *job, double seconds,
                                               bool every_rank)
{
    const double start_s = bc_elapsed_s();
    struct bc_global_clock *const clock =
        bc_allocate(1, sizeof *clock, "no memory for the global clock");
    struct bc_pair_clock *const pairs = &clock->pairs;
    make_pairs(pairs, job, every_rank);
    /* This need not be the same on every rank. */
    const int turns = bc_pair_turns(pairs->node.size, pairs->node_at_once) +
                      bc_pair_turns(job->nodes, job->nodes);
    const double share_s = MEASURING_SHARE / 2.0 * seconds / fmax(turns, 1.0);
    const double pair_s = fmax(PAIR_MIN_S, fmin(PAIR_S, share_s));
    bc_pair_clock_measure(pairs, pair_s);
    const double measuring_s = bc_elapsed_s() - start_s;
    const double measurements = pairs->naps ? CROWDED_MEASUREMENTS : 1.0;
    const double wait_s = start_s + seconds - measurements * measuring_s - bc_elapsed_s();
    if (wait_s > 0.0)
        bc_sleep_ns((int64_t)(wait_s * 1e9));
    do {
        bc_pair_clock_measure(pairs, pair_s);
        bc_pair_clock_learn(pairs);
    } while (measures_again(pairs, start_s + seconds - measuring_s));
    clock->took_s = bc_elapsed_s() - start_s;
    return clock;
}

void bc_global_clock_update(struct bc_global_clock *clock)
{
    const double start_s = bc_elapsed_s();
    bc_pair_clock_measure(&clock->pairs, UPDATE_PAIR_S);
    bc_pair_clock_learn(&clock->pairs);
    clock->took_s = bc_elapsed_s() - start_s;
}

const struct bc_clock_model *bc_global_clock_model(const struct bc_global_clock *clock)
{
    return &clock->pairs.known.model;
}

double bc_global_clock_error_ns(const struct bc_global_clock *clock, int64_t now_ns)
{
    const struct bc_known_clock *const known = &clock->pairs.known;
    return known->error_ns + known->growth * (double)(now_ns - known->model.at_ns);
}

struct bc_global_clock_report bc_global_clock_report(const struct bc_global_clock *clock)
{
    const struct bc_known_clock *const known = &clock->pairs.known;
    double max[] = {known->error_ns, known->growth, known->bound_ns, clock->took_s};
    int shared = clock->pairs.one_clock && clock->pairs.count > 0;
    bc_harness_allreduce(MPI_IN_PLACE, max, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    bc_harness_allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (struct bc_global_clock_report){max[0], max[1], max[2], max[3], shared};
}

void bc_global_clock_destroy(struct bc_global_clock *clock)
{
    if (clock == NULL)
        return;
    bc_pair_clock_free(&clock->pairs);
    free(clock);
}
