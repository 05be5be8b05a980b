#include "common/sync_clock/global_clock.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <mpi.h>
#include <sched.h>
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

/* How much a clock's rate may change by itself, as with the temperature. */
#define RATE_CHANGE 1e-8

/* In oversubscribed jobs a rank tests a request LOOKS times before it yields its processor. */
enum { LOOKS = 2000 };

/* In oversubscribed jobs one rank of the pair sleeps for NAP_NS before each run: a rank that wakes
   up gets a free processor, while two that share one may keep sharing it. If the clock's error may
   exceed CROWDED_ERROR_NS all the same, all pairs measure again while there is time;
   CROWDED_MEASUREMENTS times the time of a measurement is kept for that. */
#define NAP_NS 50000
#define CROWDED_ERROR_NS 100.0
#define CROWDED_MEASUREMENTS 3.0

enum { TAG_READY, TAG_STAMP, TAG_HULL, TAG_MODEL };

/* Ranks that are compared along a binomial tree from rank 0 of `comm`. */
struct tree {
    MPI_Comm comm;    /* MPI_COMM_NULL on a rank that isn't in the tree */
    int rank, size;   /* 0 on such a rank */
    int at_once;      /* pairs that may measure at the same time */
    bool takes_turns; /* pairs wait, asleep, for those that measure */
};

/* What is known of this rank's clock against another. */
struct knowledge {
    struct bc_clock_model model;
    struct bc_clock_model_quality quality;
};

struct bc_global_clock {
    struct tree leaders, node;
    bool shares_processors, every_rank;
    bool one_clock; /* compared with a rank of its node whose clock it seems to read */
    struct bc_exchange exchanges[BC_EXCHANGES_MAX]; /* with that rank, in order */
    size_t count;
    size_t consistent;      /* the newest exchanges, to which the model is fitted */
    struct knowledge known; /* against rank 0 */
    double reading_ns;      /* the cost of a reading */
    double took_s;
    struct bc_timestamps timestamps[ROUNDS_MAX]; /* of the messages received in one run */
};

/* ---- messages -------------------------------------------------------------------------------- */

struct stamp {
    int64_t sent_ns;
    int64_t more; /* 0: the last message of the rank that began */
};

static void wait_for(const struct bc_global_clock *clock, MPI_Request *request)
{
    int done = 0;
    if (!clock->shares_processors) {
        BC_MPI(PMPI_Wait(request, MPI_STATUS_IGNORE));
        return;
    }
    for (int looks = 0; !done; looks++) {
        if (looks > LOOKS)
            sched_yield();
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

static void send(const struct tree *tree, const void *data, size_t bytes, int peer, int tag)
{
    BC_MPI(PMPI_Send(data, (int)bytes, MPI_BYTE, peer, tag, tree->comm));
}

static void receive(const struct bc_global_clock *clock, const struct tree *tree, void *data,
                    size_t bytes, int peer, int tag)
{
    MPI_Request request;
    BC_MPI(PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag, tree->comm, &request));
    wait_for(clock, &request);
}

static void send_stamp(const struct tree *tree, bool more, int peer)
{
    const struct stamp stamp = {.more = more, .sent_ns = bc_now_ns()};
    send(tree, &stamp, sizeof stamp, peer, TAG_STAMP);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Sends timestamps to and fro, with the same calls in the same order on both ranks: a receive is
   posted before its message arrives. Returns the number of messages received. */
static size_t run_round_trips(struct bc_global_clock *clock, const struct tree *tree, int peer,
                              bool begins, double seconds)
{
    const double end_s = bc_elapsed_s() + seconds;
    struct stamp came;
    MPI_Request request;
    bool more = true;
    BC_MPI(PMPI_Irecv(&came, sizeof came, MPI_BYTE, peer, TAG_STAMP, tree->comm, &request));
    if (begins)
        send_stamp(tree, more, peer);
    for (size_t count = 0;;) {
        wait_for(clock, &request);
        const int64_t arrived_ns = bc_now_ns();
        clock->timestamps[count++] = (struct bc_timestamps){came.sent_ns, arrived_ns};
        if (begins && !more)
            return count;
        if (begins)
            more = count < ROUNDS_MAX - 1 && (count < ROUNDS_MIN || bc_elapsed_s() < end_s);
        else
            more = came.more != 0;
        if (begins || more)
            BC_MPI(PMPI_Irecv(&came, sizeof came, MPI_BYTE, peer, TAG_STAMP, tree->comm, &request));
        send_stamp(tree, more, peer);
        if (!begins && !more)
            return count;
    }
}

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
static void measure_pair(struct bc_global_clock *clock, const struct tree *tree, int peer,
                         bool is_reference, double seconds)
{
    char ready = 0;
    if (!is_reference)
        send(tree, &ready, 1, peer, TAG_READY);
    receive(clock, tree, &ready, 1, peer, TAG_READY);
    if (is_reference)
        send(tree, &ready, 1, peer, TAG_READY);
    else
        make_space(clock);
    for (int run = 0; run < RUNS; run++) {
        struct bc_hull hull;
        const bool begins = (run % 2 == 0) == is_reference;
        if (clock->shares_processors && begins)
            bc_sleep_ns(NAP_NS);
        const size_t count = run_round_trips(clock, tree, peer, begins, seconds / RUNS);
        bc_hull_find(clock->timestamps, count, &hull);
        if (is_reference) {
            send(tree, &hull, sizeof hull, peer, TAG_HULL);
            continue;
        }
        struct bc_exchange *const new = &clock->exchanges[clock->count++];
        new->there = hull;
        receive(clock, tree, &new->back, sizeof new->back, peer, TAG_HULL);
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Step `step` (1, 2, 4 ...) compares rank r + step with rank r, for all r < step. */
static int pairs_of_step(int size, int step) { return size - step < step ? size - step : step; }

/* The number of turns in which all pairs of a tree measure. */
static int turns(int size, int at_once)
{
    int sum = 0;
    for (int step = 1; step < size; step *= 2)
        sum += (pairs_of_step(size, step) + at_once - 1) / at_once;
    return sum;
}

/* The pairs first, first + 1 ... measure, as many as may at the same time. */
static void take_turn(struct bc_global_clock *clock, const struct tree *tree, int step, int first,
                      double seconds)
{
    int end = pairs_of_step(tree->size, step);
    if (end - first > tree->at_once)
        end = first + tree->at_once;
    if (tree->rank >= first && tree->rank < end)
        measure_pair(clock, tree, tree->rank + step, true, seconds);
    else if (tree->rank - step >= first && tree->rank - step < end)
        measure_pair(clock, tree, tree->rank - step, false, seconds);
    if (tree->takes_turns)
        bc_harness_barrier(tree->comm);
}

static void measure_tree(struct bc_global_clock *clock, const struct tree *tree, double seconds)
{
    if (tree->takes_turns)
        bc_harness_barrier(tree->comm);
    for (int step = 1; step < tree->size; step *= 2)
        for (int first = 0; first < pairs_of_step(tree->size, step); first += tree->at_once)
            take_turn(clock, tree, step, first, seconds);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* What is known against the rank that this one is compared with. */
static struct knowledge own_knowledge(struct bc_global_clock *clock)
{
    clock->one_clock = clock->node.rank > 0 && !clock->every_rank &&
                       bc_may_be_one_clock(clock->exchanges, clock->count);
    if (clock->count == 0 || clock->one_clock)
        return (struct knowledge){.model.at_ns = bc_now_ns()};
    /* The exchanges before these are kept: a disturbance may have made them look inconsistent, and
       later ones may make them consistent again. */
    clock->consistent = bc_clock_model_consistent(clock->exchanges, clock->count, EXCHANGES_MIN);
    struct knowledge own;
    own.model = bc_clock_model_fit(clock->exchanges + clock->count - clock->consistent,
                                   clock->consistent, &own.quality);
    /* Each timestamp was taken at some moment within a reading of the clock, and an offset is half
       the difference of two delays, which have two timestamps each. */
    own.quality.error_ns += clock->reading_ns;
    own.quality.growth += RATE_CHANGE;
    return own;
}

/* Hands what is known against rank 0 down a tree. Each rank chains what the rank above knows with
   its own knowledge, which is against that rank. */
static void hand_down(struct bc_global_clock *clock, const struct tree *tree,
                      const struct knowledge *own)
{
    struct knowledge above;
    for (int step = 1; step < tree->size; step *= 2) {
        if (tree->rank < pairs_of_step(tree->size, step)) {
            send(tree, &clock->known, sizeof clock->known, tree->rank + step, TAG_MODEL);
        } else if (tree->rank >= step && tree->rank < 2 * step) {
            receive(clock, tree, &above, sizeof above, tree->rank - step, TAG_MODEL);
            clock->known = (struct knowledge){
                .model = bc_clock_model_chain(&above.model, &own->model),
                .quality = {.error_ns = above.quality.error_ns + own->quality.error_ns,
                            .growth = above.quality.growth + own->quality.growth,
                            .bound_ns = above.quality.bound_ns + own->quality.bound_ns}};
        }
    }
}

static void measure_all(struct bc_global_clock *clock, double pair_s)
{
    measure_tree(clock, &clock->leaders, pair_s);
    measure_tree(clock, &clock->node, pair_s);
}

static void measure_and_learn(struct bc_global_clock *clock, double pair_s)
{
    measure_all(clock, pair_s);
    /* All ranks do this at the same time, before any waits for the rank above. */
    const struct knowledge own = own_knowledge(clock);
    clock->known = own; /* on rank 0 */
    hand_down(clock, &clock->leaders, &own);
    hand_down(clock, &clock->node, &own);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void make_trees(struct bc_global_clock *clock, const struct bc_job *job)
{
    struct tree *const leaders = &clock->leaders, *const node = &clock->node;
    BC_MPI(MPI_Comm_dup(job->node_comm, &node->comm));
    BC_MPI(MPI_Comm_rank(node->comm, &node->rank));
    BC_MPI(MPI_Comm_size(node->comm, &node->size));
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, node->rank == 0 ? 0 : MPI_UNDEFINED, job->rank,
                          &leaders->comm));
    if (leaders->comm != MPI_COMM_NULL) {
        BC_MPI(MPI_Comm_rank(leaders->comm, &leaders->rank));
        BC_MPI(MPI_Comm_size(leaders->comm, &leaders->size));
    }
    leaders->at_once = job->nodes;
    node->at_once = job->min_allowed_processors / 2 > 0 ? job->min_allowed_processors / 2 : 1;
    node->takes_turns = job->oversubscribed;
    clock->shares_processors = job->oversubscribed;
}

/* Whether to measure again, where ranks share processors. Collective. */
static bool measures_again(const struct bc_global_clock *clock, double end_s)
{
    if (!clock->shares_processors)
        return false;
    int flags[2] = {clock->known.quality.error_ns > CROWDED_ERROR_NS, /* may be off */
                    bc_elapsed_s() > end_s};                          /* has no time left */
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
    const int all = turns(clock->node.size, clock->node.at_once) + turns(job->nodes, job->nodes);
    const double share_s = MEASURING_SHARE / 2.0 * seconds / fmax(all, 1.0);
    const double pair_s = fmax(PAIR_MIN_S, fmin(PAIR_S, share_s));
    measure_all(clock, pair_s);
    const double measuring_s = bc_elapsed_s() - start_s;
    const double measurements = clock->shares_processors ? CROWDED_MEASUREMENTS : 1.0;
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
    const struct knowledge *const known = &clock->known;
    return known->quality.error_ns + known->quality.growth * (double)(now_ns - known->model.at_ns);
}

struct bc_global_clock_report bc_global_clock_report(const struct bc_global_clock *clock)
{
    const struct bc_clock_model_quality *const quality = &clock->known.quality;
    double max[] = {quality->error_ns, quality->growth, quality->bound_ns, clock->took_s};
    int shared = clock->one_clock && clock->count > 0;
    bc_harness_allreduce(MPI_IN_PLACE, max, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    bc_harness_allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (struct bc_global_clock_report){max[0], max[1], max[2], max[3], shared};
}

void bc_global_clock_destroy(struct bc_global_clock *clock)
{
    if (clock == NULL)
        return;
    if (clock->leaders.comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&clock->leaders.comm));
    BC_MPI(MPI_Comm_free(&clock->node.comm));
    free(clock);
}
