#include "common/sync_clock/pairs.h"

#include "common/clock/source.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <sched.h>
#include <string.h>

/* A pair measures in RUNS runs of round trips, which its ranks begin in turn; each run is an
   exchange. A run has from ROUNDS_MIN to ROUNDS_MAX messages in each direction. A model is fitted
   to at least EXCHANGES_MIN exchanges. */
enum { RUNS = 8, ROUNDS_MAX = 400, ROUNDS_MIN = 10, EXCHANGES_MIN = 2 * RUNS };

enum { NAP_NS = 50000 };

/* ---- trees ----------------------------------------------------------------------------------- */

static struct bc_pair_tree tree_of(MPI_Comm comm)
{
    struct bc_pair_tree tree = {.comm = comm};
    if (comm != MPI_COMM_NULL) {
        BC_MPI(MPI_Comm_rank(comm, &tree.rank));
        BC_MPI(MPI_Comm_size(comm, &tree.size));
    }
    return tree;
}

void bc_pair_clock_make(struct bc_pair_clock *clock, MPI_Comm comm, MPI_Comm node)
{
    int rank;
    MPI_Comm leaders;
    clock->node = tree_of(node);
    BC_MPI(MPI_Comm_rank(comm, &rank));
    BC_MPI(MPI_Comm_split(comm, clock->node.rank == 0 ? 0 : MPI_UNDEFINED, rank, &leaders));
    clock->leaders = tree_of(leaders);
}

void bc_pair_clock_free(struct bc_pair_clock *clock)
{
    if (clock->leaders.comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&clock->leaders.comm));
    BC_MPI(MPI_Comm_free(&clock->node.comm));
}

/* The number of pairs of a step in a tree of this size. */
static int pairs_of(int size, int step) { return size - step < step ? size - step : step; }

int bc_pair_turns(int size, int at_once)
{
    int sum = 0;
    for (int step = 1; step < size; step *= 2)
        sum += (pairs_of(size, step) + at_once - 1) / at_once;
    return sum;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Of all messages: between two ranks they come in a known order. */
enum { TAG = 0 };

void bc_pair_wait(const struct bc_pair_clock *clock, MPI_Request *request)
{
    int done = 0;
    if (clock->looks == 0) {
        BC_MPI(PMPI_Wait(request, MPI_STATUS_IGNORE));
        return;
    }
    for (int looks = 0; !done; looks++) {
        if (looks > clock->looks)
            (void)sched_yield();
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

static void send(const struct bc_pair_tree *tree, const void *data, size_t bytes, int peer)
{
    BC_MPI(PMPI_Send(data, (int)bytes, MPI_BYTE, peer, TAG, tree->comm));
}

static void post(const struct bc_pair_tree *tree, void *data, size_t bytes, int peer,
                 MPI_Request *request)
{
    BC_MPI(PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, TAG, tree->comm, request));
}

static void receive(const struct bc_pair_clock *clock, const struct bc_pair_tree *tree, void *data,
                    size_t bytes, int peer)
{
    MPI_Request request;
    post(tree, data, bytes, peer, &request);
    bc_pair_wait(clock, &request);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

struct stamp {
    int64_t sent_ns;
    int64_t more; /* 0: the last message of the rank that began */
};

static void send_stamp(const struct bc_pair_clock *clock, const struct bc_pair_tree *tree,
                       bool more, int peer)
{
    const struct stamp stamp = {.more = more, .sent_ns = clock->now_ns()};
    send(tree, &stamp, sizeof stamp, peer);
}

static double elapsed_s(void) { return (double)bc_source_monotonic_ns() * 1e-9; }

/* Sends timestamps to and fro, with the same calls in the same order on both ranks of a pair: a
   receive is posted before its message arrives. `begins` on one of them. Finds the hull of the
   messages received. */
static void run_round_trips(const struct bc_pair_clock *clock, const struct bc_pair_tree *tree,
                            int peer, bool begins, double seconds, struct bc_hull *hull)
{
    const double end_s = elapsed_s() + seconds;
    struct bc_timestamps timestamps[ROUNDS_MAX] = {{0, 0}}; /* no page is touched first below */
    struct stamp came;
    MPI_Request request;
    size_t count = 0;
    bool more = true, done = false;
    post(tree, &came, sizeof came, peer, &request);
    if (begins)
        send_stamp(clock, tree, more, peer);
    while (!done) {
        bc_pair_wait(clock, &request);
        const int64_t arrived_ns = clock->now_ns();
        timestamps[count++] = (struct bc_timestamps){came.sent_ns, arrived_ns};
        if (begins && !more)
            break;
        if (begins)
            more = count < ROUNDS_MAX - 1 && (count < ROUNDS_MIN || elapsed_s() < end_s);
        else
            more = came.more != 0;
        if (begins || more)
            post(tree, &came, sizeof came, peer, &request);
        send_stamp(clock, tree, more, peer);
        done = !begins && !more;
    }
    bc_hull_find(timestamps, count, hull);
}

/* Drops a measurement where there is no space for another. The oldest one stays as long as the
   model is fitted to it, since the drift depends on it. */
static void make_space(struct bc_pair_clock *clock)
{
    if (clock->count + RUNS <= BC_EXCHANGES_MAX)
        return;
    const size_t stay = clock->consistent == clock->count ? RUNS : 0;
    clock->count -= RUNS;
    memmove(clock->exchanges + stay, clock->exchanges + stay + RUNS,
            (clock->count - stay) * sizeof *clock->exchanges);
}

/* Measures a pair. The rank that is compared with the one above gets both hulls of each run. */
static void measure_pair(struct bc_pair_clock *clock, const struct bc_pair_tree *tree, int peer,
                         bool is_above, double seconds)
{
    char ready = 0;
    if (!is_above)
        send(tree, &ready, 1, peer);
    receive(clock, tree, &ready, 1, peer);
    if (is_above)
        send(tree, &ready, 1, peer);
    else
        make_space(clock);
    for (int run = 0; run < RUNS; run++) {
        struct bc_hull hull;
        const bool begins = (run % 2 == 0) == is_above;
        if (clock->naps && begins)
            bc_sleep_ns(NAP_NS);
        run_round_trips(clock, tree, peer, begins, seconds / RUNS, &hull);
        if (is_above) {
            send(tree, &hull, sizeof hull, peer);
            continue;
        }
        struct bc_exchange *const new = &clock->exchanges[clock->count++];
        new->there = hull;
        receive(clock, tree, &new->back, sizeof new->back, peer);
    }
}

/* The pairs first, first + 1 ... of a step measure, up to `end`. */
static void take_turn(struct bc_pair_clock *clock, const struct bc_pair_tree *tree, int step,
                      int first, int end, double seconds)
{
    if (tree->rank >= first && tree->rank < end)
        measure_pair(clock, tree, tree->rank + step, true, seconds);
    else if (tree->rank - step >= first && tree->rank - step < end)
        measure_pair(clock, tree, tree->rank - step, false, seconds);
}

/* On crowded nodes pairs wait, asleep, for those that measure. */
static void measure_tree(struct bc_pair_clock *clock, const struct bc_pair_tree *tree,
                         void (*barrier)(MPI_Comm), double seconds)
{
    if (barrier != NULL)
        barrier(tree->comm);
    for (int step = 1; step < tree->size; step *= 2) {
        const int pairs = pairs_of(tree->size, step);
        const int at_once = barrier != NULL ? clock->node_at_once : pairs;
        for (int first = 0; first < pairs; first += at_once) {
            const int end = first + at_once;
            take_turn(clock, tree, step, first, end < pairs ? end : pairs, seconds);
            if (barrier != NULL)
                barrier(tree->comm);
        }
    }
}

void bc_pair_clock_measure(struct bc_pair_clock *clock, double pair_s)
{
    measure_tree(clock, &clock->leaders, NULL, pair_s);
    measure_tree(clock, &clock->node, clock->barrier, pair_s);
}

/* ---- what is known --------------------------------------------------------------------------- */

/* What is known against the rank above. */
static struct bc_known_clock known_of(struct bc_pair_clock *clock)
{
    struct bc_known_clock known = {.model.at_ns = clock->now_ns()};
    struct bc_clock_model_quality quality;
    clock->one_clock = clock->node.rank > 0 && !clock->every_rank &&
                       bc_may_be_one_clock(clock->exchanges, clock->count);
    if (clock->one_clock && clock->bounds_one_clock)
        known.bound_ns = bc_one_clock_bound(clock->exchanges, clock->count);
    if (clock->count == 0 || clock->one_clock)
        return known;
    /* The exchanges before these are kept: a disturbance may have made them look inconsistent, and
       later ones may make them consistent again. */
    clock->consistent = bc_clock_model_consistent(clock->exchanges, clock->count, EXCHANGES_MIN);
    known.model = bc_clock_model_fit(clock->exchanges + clock->count - clock->consistent,
                                     clock->consistent, &quality);
    known.bound_ns = quality.bound_ns;
    /* Each timestamp was taken at some moment within a reading of the clock, and an offset is half
       the difference of two delays, which have two timestamps each. */
    known.error_ns = quality.error_ns + clock->reading_ns;
    known.growth = fmin(quality.growth, clock->growth_max) + clock->rate_change;
    return known;
}

/* Hands what is known against rank 0 down a tree: each rank chains what the rank above knows with
   its own knowledge, which is against that rank. */
static void hand_down(const struct bc_pair_clock *clock, const struct bc_pair_tree *tree,
                      struct bc_known_clock *known)
{
    struct bc_known_clock above;
    for (int step = 1; step < tree->size; step *= 2) {
        if (tree->rank < pairs_of(tree->size, step)) {
            send(tree, known, sizeof *known, tree->rank + step);
        } else if (tree->rank >= step && tree->rank < 2 * step) {
            receive(clock, tree, &above, sizeof above, tree->rank - step);
            known->model = bc_clock_model_chain(&above.model, &known->model);
            known->error_ns += above.error_ns;
            known->bound_ns += above.bound_ns;
            known->growth += above.growth;
        }
    }
}

void bc_pair_clock_learn(struct bc_pair_clock *clock)
{
    /* All ranks do this at the same time, before any waits for the rank above. */
    clock->known = known_of(clock);
    hand_down(clock, &clock->leaders, &clock->known);
    hand_down(clock, &clock->node, &clock->known);
}
