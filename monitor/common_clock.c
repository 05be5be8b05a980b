#include "monitor/common_clock.h"

#include "common/mpi/mpi_check.h"

#include <math.h>

/* A comparison is some runs of round trips, which the ranks of a pair begin in turn. A run has up
   to ROUNDS_MAX messages in each direction, and after ROUNDS_MIN it ends when RUN_NS are over; one
   that took no longer is good. There are at least RUNS_MIN runs, and then more until RUNS_GOOD were
   good or PAIR_NS are over. */
enum { ROUNDS_MAX = 50, ROUNDS_MIN = 5, RUN_NS = 2000000 };
enum { RUNS_MIN = 2, RUNS_GOOD = 8, PAIR_NS = 100000000 };

/* A run that wasn't good may be one of ranks that share a processor. In the next one the rank that
   begins it sleeps first, and both ranks yield theirs after few looks for a message. */
enum { LOOKS_FEW = 50 };

/* By how much the rates of two clocks may differ, where only one comparison can't tell. */
#define RATE_DIFFERENCE 1e-4

/* How far this rank's clock was ahead of that of the rank above. */
struct comparison {
    int64_t at_ns; /* by this rank's clock */
    double ahead_ns;
    double error_ns; /* the max by which that can be wrong */
    bool may_be_one_clock;
};

/* The clock of this rank, and what it was compared with. */
static struct {
    int comparisons;     /* that are kept: 0, 1 or 2 */
    uint64_t base_ticks; /* when the time is 0: the same on all ranks of a node ... */
    double tick_ns;      /* ... as is this */
    struct comparison first, last;
} own;

/* The time on this rank's clock. */
static int64_t time_of(uint64_t ticks)
{
    return llround((double)(int64_t)(ticks - own.base_ticks) * own.tick_ns);
}

static int64_t now_ns(void) { return time_of(ticks_now()); }

static struct bc_pair_reader reader = {now_ns, BC_PAIR_LOOKS};

static struct bc_pair_trees make_trees(MPI_Comm comm)
{
    int rank;
    MPI_Comm node;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    BC_MPI(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    return bc_pair_trees_make(comm, node);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The min of what messages seemed to take. */
struct delay {
    double min_ns;
    int64_t sent_ns, arrived_ns; /* of that message, by the clocks of its sender and receiver */
};

/* Returns what messages to this rank seemed to take in a run. */
static struct delay run_round_trips(const struct bc_pair_tree *tree, int peer, bool begins)
{
    static const struct bc_pair_run run = {ROUNDS_MIN, ROUNDS_MAX, RUN_NS * 1e-9};
    struct bc_timestamps timestamps[ROUNDS_MAX];
    struct delay delay = {.min_ns = INFINITY};
    const size_t count = bc_pair_round_trips(&reader, tree, peer, begins, &run, timestamps);
    for (size_t i = 0; i < count; i++) {
        const struct bc_timestamps at = timestamps[i];
        if ((double)(at.arrived_ns - at.sent_ns) < delay.min_ns)
            delay = (struct delay){(double)(at.arrived_ns - at.sent_ns), at.sent_ns, at.arrived_ns};
    }
    return delay;
}

/* What a run tells, from the delays to this rank and back to the rank above. */
static struct comparison comparison_of(const struct delay *there, const struct delay *back)
{
    const int64_t apart_ns = back->sent_ns - there->arrived_ns;
    /* Each reading of the clock takes a while, and meanwhile one clock may gain on the other. */
    const double off_ns =
        (double)ticks_cost() * own.tick_ns + RATE_DIFFERENCE / 2.0 * fabs((double)apart_ns);
    return (struct comparison){
        .at_ns = there->arrived_ns + apart_ns / 2,
        .ahead_ns = (there->min_ns - back->min_ns) / 2.0,
        .error_ns = fmax(0.0, (there->min_ns + back->min_ns) / 2.0) + off_ns,
        .may_be_one_clock = there->min_ns > -off_ns && back->min_ns > -off_ns,
    };
}

/* What follows a run. */
enum next_run { NONE, AT_ONCE, AFTER_A_NAP };

static void begin_run(enum next_run next, bool begins)
{
    reader.looks = next == AFTER_A_NAP ? LOOKS_FEW : BC_PAIR_LOOKS;
    if (begins && next == AFTER_A_NAP)
        bc_sleep_ns(BC_PAIR_NAP_NS);
}

/* Compares this rank's clock with that of the rank above. */
static struct comparison compare_with_above(const struct bc_pair_tree *tree, int above)
{
    const int64_t start_ns = now_ns();
    struct comparison best = {.error_ns = INFINITY, .may_be_one_clock = true};
    int64_t run_ns = start_ns;
    enum next_run next = AT_ONCE;
    for (int runs = 1, good = 0; next != NONE; runs++) {
        const bool begins = runs % 2 == 0;
        begin_run(next, begins);
        const struct delay there = run_round_trips(tree, above, begins);
        struct delay back;
        bc_pair_receive(&reader, tree, &back, sizeof back, above);
        const struct comparison found = comparison_of(&there, &back);
        /* One run that contradicts it is enough. */
        const bool may_be_one_clock = best.may_be_one_clock && found.may_be_one_clock;
        if (found.error_ns < best.error_ns)
            best = found;
        best.may_be_one_clock = may_be_one_clock;
        const int64_t end_ns = now_ns();
        const bool is_good = end_ns - run_ns <= RUN_NS;
        good += is_good;
        if (runs >= RUNS_MIN && (good >= RUNS_GOOD || end_ns - start_ns >= PAIR_NS))
            next = NONE;
        else
            next = is_good ? AT_ONCE : AFTER_A_NAP;
        bc_pair_send(tree, &next, sizeof next, above);
        run_ns = end_ns;
    }
    return best;
}

/* What the rank above does meanwhile. */
static void compare_with_below(const struct bc_pair_tree *tree, int below)
{
    enum next_run next = AT_ONCE;
    for (int runs = 1; next != NONE; runs++) {
        const bool begins = runs % 2 != 0;
        begin_run(next, begins);
        const struct delay delay = run_round_trips(tree, below, begins);
        bc_pair_send(tree, &delay, sizeof delay, below);
        bc_pair_receive(&reader, tree, &next, sizeof next, below);
    }
}

static void compare_tree(const struct bc_pair_tree *tree, struct comparison *found)
{
    for (int step = 1; step < tree->size; step *= 2) {
        if (tree->rank < bc_pair_count(tree->size, step))
            compare_with_below(tree, tree->rank + step);
        else if (tree->rank >= step && tree->rank < 2 * step)
            *found = compare_with_above(tree, tree->rank - step);
    }
}

/* The ranks of a node count from the same tick with the same length, if their ticks are of the same
   clock. */
static void begin_to_count(const struct bc_pair_tree *node)
{
    struct {
        uint64_t base_ticks;
        double tick_ns;
        bool are_tsc;
    } of_own = {ticks_now(), ticks_ns(), ticks_are_tsc}, counted = of_own;
    BC_MPI(PMPI_Bcast(&counted, sizeof counted, MPI_BYTE, 0, node->comm));
    if (counted.are_tsc != of_own.are_tsc)
        counted = of_own;
    own.base_ticks = counted.base_ticks;
    own.tick_ns = counted.tick_ns;
}

static void compare_all(const struct bc_pair_trees *trees, MPI_Comm comm)
{
    if (own.comparisons == 0)
        begin_to_count(&trees->node);
    struct comparison found = {.at_ns = now_ns()};
    compare_tree(&trees->leaders, &found);
    compare_tree(&trees->node, &found);
    if (own.comparisons == 0)
        own.first = found;
    else
        own.comparisons = 1; /* the latest one takes the place of the second */
    own.last = found;
    own.comparisons++;
    /* Ranks with few peers don't go ahead, nor take processors from those that still compare. */
    MPI_Request request;
    reader.looks = LOOKS_FEW;
    BC_MPI(PMPI_Ibarrier(comm, &request));
    bc_pair_wait(&reader, &request);
}

void common_clock_compare(MPI_Comm comm)
{
    struct bc_pair_trees trees = make_trees(comm);
    compare_all(&trees, comm);
    bc_pair_trees_free(&trees);
}

/* ---- what is known --------------------------------------------------------------------------- */

/* This rank's clock against that of the rank above. */
static struct bc_known_clock against_the_rank_above(bool is_on_its_node)
{
    const struct comparison *const first = &own.first, *const last = &own.last;
    struct bc_known_clock known = {
        .model = {.at_ns = first->at_ns},
        .error_ns = {first->error_ns, last->error_ns},
    };
    if (is_on_its_node && first->may_be_one_clock && last->may_be_one_clock) {
        /* Then both comparisons are about the same thing. */
        known.error_ns[FIRST] = known.error_ns[LAST] =
            fmin(first->error_ns + fabs(first->ahead_ns), last->error_ns + fabs(last->ahead_ns));
        return known;
    }
    known.model.ahead_ns = llround(first->ahead_ns);
    known.model.more_ns = first->ahead_ns - (double)known.model.ahead_ns;
    known.growth = RATE_DIFFERENCE;
    if (last->at_ns > first->at_ns) {
        known.model.drift =
            (last->ahead_ns - first->ahead_ns) / (double)(last->at_ns - first->at_ns);
        known.growth = BC_RATE_CHANGE;
    }
    return known;
}

int common_clock_find(MPI_Comm comm, struct common_clock *clock)
{
    struct bc_pair_trees trees = make_trees(comm);
    compare_all(&trees, comm);
    *clock = (struct common_clock){
        .tick_ns = own.tick_ns, .first_ns = own.first.at_ns, .last_ns = own.last.at_ns};
    if (trees.node.rank > 0 || trees.leaders.rank > 0)
        clock->known = against_the_rank_above(trees.node.rank > 0);
    bc_pair_hand_down(&reader, &trees.leaders, &clock->known);
    bc_pair_hand_down(&reader, &trees.node, &clock->known);
    bc_pair_trees_free(&trees);
    return own.comparisons;
}

double common_clock_ns(const struct common_clock *clock, uint64_t ticks)
{
    return (double)bc_clock_model_reference(&clock->known.model, time_of(ticks));
}

double common_clock_error_ns(const struct common_clock *clock, uint64_t ticks)
{
    const struct bc_known_clock *const known = &clock->known;
    const double first_error_ns = known->error_ns[FIRST], last_error_ns = known->error_ns[LAST];
    const double since_first_ns = (double)(time_of(ticks) - clock->first_ns);
    const double to_last_ns = (double)(clock->last_ns - clock->first_ns) - since_first_ns;
    const double span_ns = since_first_ns + to_last_ns;
    const double beyond_ns = fmax(0.0, fmax(-since_first_ns, -to_last_ns));
    if (span_ns <= 0.0)
        return first_error_ns + known->growth * beyond_ns;
    if (beyond_ns > 0.0)
        return (since_first_ns < 0.0 ? first_error_ns : last_error_ns) +
               ((first_error_ns + last_error_ns) / span_ns + known->growth) * beyond_ns;
    return (first_error_ns * to_last_ns + last_error_ns * since_first_ns) / span_ns +
           known->growth * fmin(since_first_ns, to_last_ns);
}
