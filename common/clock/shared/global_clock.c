#include "common/clock/shared/global_clock.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "common/mpi/harness.h"

#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A pair measures in so many runs of messages that go to and fro, which either rank
   begins in turn; each run is an exchange. */
enum { RUNS = 8, ROUNDS_MAX = 400, ROUNDS_MIN = 10 };

/* What a pair takes, unless the time there is for all of them makes it shorter; and in
   an update. A thousand round trips within a node, and hundreds between them. */
#define PAIR_S 0.02
#define UPDATE_PAIR_S 0.005
#define PAIR_MIN_S 0.001
/* Of the time for all pairs, what measuring may take; the rest is waiting. */
#define MEASURING_SHARE 0.4

/* A line has this many exchanges at least. */
enum { EXCHANGES_LEAST = 2 * RUNS };

/* What a clock's rate changes by itself in a while, as temperatures do. */
#define RATE_CHANGE 1e-8

/* In oversubscribed jobs a rank looks so often before it offers its processor. */
enum { LOOKS = 2000 };

/* ... and before each run one of a pair sleeps so long: those that wake up are given a
   processor that is free, while two that share one may do so for the whole measurement.
   If they did all the same, and the clock may be off by more than this, all pairs measure
   again while there is time, for which so many measurements' time is kept. */
#define NAP_NS 50000
#define CROWDED_ERROR_NS 100.0
#define CROWDED_MEASUREMENTS 3.0

enum { TAG_READY, TAG_STAMP, TAG_EDGE, TAG_LINE };

/* Ranks that are compared along a binomial tree from rank 0 on. */
struct tree {
    MPI_Comm comm; /* MPI_COMM_NULL on a rank that isn't in it */
    int rank, size;
    int at_once;      /* pairs that may measure at a time */
    bool takes_turns; /* and wait for each other, asleep */
};

/* What a rank hands down. */
struct knowledge {
    struct bc_clock_model line;
    double error_ns, growth, bound_ns;
};

struct bc_global_clock {
    struct tree leaders, node;
    bool shares_processors, every_rank;
    bool in_node;                                   /* this rank is compared with one of its node */
    bool one_clock;                                 /* ... whose clock it seems to read */
    struct bc_exchange exchanges[BC_EXCHANGES_MAX]; /* with that rank, in order */
    size_t straight; /* so many of the newest are what the line goes through */
    size_t count;
    struct knowledge own;   /* of the rank that this one is compared with */
    struct knowledge known; /* of rank 0 */
    double reading_ns;      /* what it costs */
    double took_s;
    struct bc_passage *passages; /* of one run */
};

/* ---- messages -------------------------------------------------------------------------------- */

struct stamp {
    int64_t sent_ns;
    int64_t more; /* 0: the last one of whoever began */
};

static void wait_for(const struct bc_global_clock *clock, MPI_Request *request)
{
    int done = 0;
    if (!clock->shares_processors) {
        BC_MPI(PMPI_Wait(request, MPI_STATUS_IGNORE));
        return;
    }
    for (int looks = 1;; looks++) {
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            return;
        if (looks > LOOKS)
            sched_yield();
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

static void expect_stamp(const struct tree *tree, struct stamp *stamp, int peer,
                         MPI_Request *request)
{
    BC_MPI(PMPI_Irecv(stamp, (int)sizeof *stamp, MPI_BYTE, peer, TAG_STAMP, tree->comm, request));
}

static void send_stamp(const struct tree *tree, bool more, int peer)
{
    struct stamp stamp = {.more = more};
    stamp.sent_ns = bc_now_ns();
    send(tree, &stamp, sizeof stamp, peer, TAG_STAMP);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Sends stamps to and fro, with the same calls in the same order on both ranks: a
   receive is waiting when its message comes. Returns how many passages were seen. */
static size_t run_to_and_fro(struct bc_global_clock *clock, const struct tree *tree, int peer,
                             bool begins, double seconds)
{
    const double end_s = bc_elapsed_s() + seconds;
    struct stamp came;
    MPI_Request request;
    bool more = true;
    expect_stamp(tree, &came, peer, &request);
    if (begins)
        send_stamp(tree, more, peer);
    for (size_t count = 0;;) {
        wait_for(clock, &request);
        const int64_t arrived_ns = bc_now_ns();
        clock->passages[count++] = (struct bc_passage){came.sent_ns, arrived_ns};
        if (begins && !more)
            return count;
        if (begins)
            more = count < ROUNDS_MAX - 1 && (count < ROUNDS_MIN || bc_elapsed_s() < end_s);
        else
            more = came.more != 0;
        if (begins || more)
            expect_stamp(tree, &came, peer, &request);
        send_stamp(tree, more, peer);
        if (!begins && !more)
            return count;
    }
}

/* The oldest measurement stays while the line goes through it: the drift rests on
   it. */
static void make_room(struct bc_global_clock *clock)
{
    if (clock->count + RUNS <= BC_EXCHANGES_MAX)
        return;
    const size_t stay = clock->straight == clock->count ? RUNS : 0;
    clock->count -= RUNS;
    memmove(clock->exchanges + stay, clock->exchanges + stay + RUNS,
            (clock->count - stay) * sizeof *clock->exchanges);
}

/* One run; whoever is compared with the other one learns both edges. */
static void exchange(struct bc_global_clock *clock, const struct tree *tree, int peer,
                     bool is_reference, bool begins, double seconds)
{
    struct bc_edge edge;
    const size_t count = run_to_and_fro(clock, tree, peer, begins, seconds);
    bc_edge_find(clock->passages, count, &edge);
    if (is_reference) {
        send(tree, &edge, sizeof edge, peer, TAG_EDGE);
        return;
    }
    struct bc_exchange *const new = &clock->exchanges[clock->count++];
    new->there = edge;
    receive(clock, tree, &new->back, sizeof new->back, peer, TAG_EDGE);
}

static void measure_pair(struct bc_global_clock *clock, const struct tree *tree, int peer,
                         bool is_reference, double seconds)
{
    char ready = 0;
    if (is_reference) {
        receive(clock, tree, &ready, 1, peer, TAG_READY);
        send(tree, &ready, 1, peer, TAG_READY);
    } else {
        send(tree, &ready, 1, peer, TAG_READY);
        receive(clock, tree, &ready, 1, peer, TAG_READY);
        make_room(clock);
    }
    for (int run = 0; run < RUNS; run++) {
        if (clock->shares_processors && (run % 2 == 0) == is_reference)
            bc_sleep_ns(NAP_NS);
        exchange(clock, tree, peer, is_reference, (run % 2 == 0) == is_reference, seconds / RUNS);
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Step `step` (1, 2, 4 ...) compares rank r + step with rank r, for all r below it. */
static int pairs_of_step(const struct tree *tree, int step)
{
    return tree->size - step < step ? tree->size - step : step;
}

/* The turns that all pairs of a tree take. */
static int turns(const struct tree *tree)
{
    int sum = 0;
    for (int step = 1; step < tree->size; step *= 2)
        sum += (pairs_of_step(tree, step) + tree->at_once - 1) / tree->at_once;
    return sum;
}

/* Of the pairs first, first + 1 ..., as many as may measure at a time. */
static void take_turn(struct bc_global_clock *clock, const struct tree *tree, int step, int first,
                      double seconds)
{
    int end = pairs_of_step(tree, step);
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
    if (tree->comm == MPI_COMM_NULL)
        return;
    if (tree->takes_turns)
        bc_harness_barrier(tree->comm);
    for (int step = 1; step < tree->size; step *= 2)
        for (int first = 0; first < pairs_of_step(tree, step); first += tree->at_once)
            take_turn(clock, tree, step, first, seconds);
}

static void measure_all(struct bc_global_clock *clock, double pair_s)
{
    measure_tree(clock, &clock->leaders, pair_s);
    measure_tree(clock, &clock->node, pair_s);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The line to the rank that this one is compared with, and what is known of it. */
static struct knowledge own_knowledge(struct bc_global_clock *clock)
{
    clock->one_clock =
        clock->in_node && !clock->every_rank && bc_may_be_one_clock(clock->exchanges, clock->count);
    if (clock->count == 0 || clock->one_clock)
        return (struct knowledge){{.at_ns = bc_now_ns()}, 0.0, 0.0, 0.0};
    /* Those before, which a disturbance may have bent, are kept all the same: with
       later ones they may be straight. */
    clock->straight = bc_clock_model_straight(clock->exchanges, clock->count, EXCHANGES_LEAST);
    struct bc_line_quality quality;
    struct knowledge own = {
        .line = bc_clock_model_fit(clock->exchanges + clock->count - clock->straight,
                                   clock->straight, &quality)};
    /* Each stamp was taken somewhere within a reading of the clock, and an offset is half
       the difference of two passages, which have two stamps each. */
    own.error_ns = quality.error_ns + clock->reading_ns;
    own.growth = RATE_CHANGE + quality.growth;
    own.bound_ns = quality.bound_ns;
    return own;
}

/* Chains what is known of the way to the rank above with what is known of this one. */
static void learn(struct bc_global_clock *clock, const struct knowledge *above)
{
    const struct knowledge *const own = &clock->own;
    clock->known = (struct knowledge){
        .line = bc_clock_model_chain(&above->line, &own->line),
        .error_ns = above->error_ns + own->error_ns,
        .growth = above->growth + own->growth,
        .bound_ns = above->bound_ns + own->bound_ns,
    };
}

static void hand_down(struct bc_global_clock *clock, const struct tree *tree)
{
    if (tree->comm == MPI_COMM_NULL)
        return;
    struct knowledge above;
    for (int step = 1; step < tree->size; step *= 2) {
        if (tree->rank < pairs_of_step(tree, step)) {
            send(tree, &clock->known, sizeof clock->known, tree->rank + step, TAG_LINE);
        } else if (tree->rank >= step && tree->rank < 2 * step) {
            receive(clock, tree, &above, sizeof above, tree->rank - step, TAG_LINE);
            learn(clock, &above);
        }
    }
}

static void hand_down_all(struct bc_global_clock *clock)
{
    /* All at the same time, before anyone waits for those above. */
    clock->own = own_knowledge(clock);
    clock->known = clock->own; /* rank 0's stays so */
    hand_down(clock, &clock->leaders);
    hand_down(clock, &clock->node);
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
    node->at_once = job->least_allowed_processors / 2 > 0 ? job->least_allowed_processors / 2 : 1;
    node->takes_turns = job->oversubscribed;
    clock->in_node = node->rank > 0;
    clock->shares_processors = job->oversubscribed;
}

/* The same on every rank, but need not be. */
static double pair_seconds(const struct bc_global_clock *clock, const struct bc_job *job,
                           double seconds)
{
    double all = turns(&clock->node);
    for (int nodes = 1; nodes < job->nodes; nodes *= 2)
        all += 1.0;
    const double share_s = MEASURING_SHARE / 2.0 * seconds / fmax(all, 1.0);
    return fmax(PAIR_MIN_S, fmin(PAIR_S, share_s));
}

static void sleep_until(double end_s)
{
    const double left_s = end_s - bc_elapsed_s();
    if (left_s > 0.0)
        bc_sleep_ns((int64_t)(left_s * 1e9));
}

/* Whether to do so again where ranks share processors. Collective. */
static bool measures_again(const struct bc_global_clock *clock, double end_s)
{
    if (!clock->shares_processors)
        return false;
    int flags[2] = {clock->known.error_ns > CROWDED_ERROR_NS,
                    bc_elapsed_s() > end_s}; /* is off, has no time */
    bc_harness_allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return flags[0] != 0 && flags[1] == 0;
}

struct bc_global_clock *bc_global_clock_create(const struct bc_job *job, double seconds,
                                               bool every_rank)
{
    const double start_s = bc_elapsed_s();
    struct bc_global_clock *const clock = calloc(1, sizeof *clock);
    if (clock == NULL)
        bc_abort("no memory for the global clock");
    clock->passages = calloc(ROUNDS_MAX, sizeof *clock->passages);
    if (clock->passages == NULL)
        bc_abort("no memory for the global clock");
    clock->every_rank = every_rank;
    clock->reading_ns = bc_clock_measure().read_ns;
    make_trees(clock, job);
    const double pair_s = pair_seconds(clock, job, seconds);
    measure_all(clock, pair_s);
    const double measuring_s = bc_elapsed_s() - start_s;
    const double measurements = clock->shares_processors ? CROWDED_MEASUREMENTS : 1.0;
    sleep_until(start_s + seconds - measurements * measuring_s);
    do {
        measure_all(clock, pair_s);
        hand_down_all(clock);
    } while (measures_again(clock, start_s + seconds - measuring_s));
    clock->took_s = bc_elapsed_s() - start_s;
    return clock;
}

void bc_global_clock_update(struct bc_global_clock *clock)
{
    const double start_s = bc_elapsed_s();
    measure_all(clock, UPDATE_PAIR_S);
    hand_down_all(clock);
    clock->took_s = bc_elapsed_s() - start_s;
}

const struct bc_clock_model *bc_global_clock_model(const struct bc_global_clock *clock)
{
    return &clock->known.line;
}

double bc_global_clock_error_ns(const struct bc_global_clock *clock, int64_t now_ns)
{
    const double since_ns = (double)(now_ns - clock->known.line.at_ns);
    return clock->known.error_ns + clock->known.growth * since_ns;
}

struct bc_global_clock_report bc_global_clock_report(const struct bc_global_clock *clock)
{
    double most[] = {clock->known.error_ns, clock->known.growth, clock->known.bound_ns,
                     clock->took_s};
    int shared = clock->one_clock && clock->count > 0;
    bc_harness_allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    bc_harness_allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (struct bc_global_clock_report){most[0], most[1], most[2], most[3], shared};
}

void bc_global_clock_destroy(struct bc_global_clock *clock)
{
    if (clock == NULL)
        return;
    if (clock->leaders.comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&clock->leaders.comm));
    BC_MPI(MPI_Comm_free(&clock->node.comm));
    free(clock->passages);
    free(clock);
}
