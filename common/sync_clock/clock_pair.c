/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/sync_clock/clock_pair.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <sched.h>

/* Maximum messages of a run in each direction; minimum round trips of a run that isn't slow. */
enum { ROUNDS_MAX = BC_PAIR_ROUNDS_MAX, ROUNDS_MIN = 10 };

/* In oversubscribed jobs a rank looks for a message LOOKS times before it yields its processor, and
   one rank of a pair sleeps for a while before a run: a rank that wakes up gets a free processor,
   while two that share one may keep sharing it. */
enum { LOOKS = 2000, NAP_NS = 50000 };

/* A run that exceeds its time, and the time of ROUNDS_MIN round trips, by SLOW_S may be one of
   ranks that share a processor, in any job: it is discarded, and in later runs the pair also yields
   and sleeps, after fewer looks. After PAIR_MAX_S slow runs are kept, and the pair makes no more
   than RUNS_MIN. */
#define SLOW_S 2e-3
/* Round trips that take longer wait for a processor, not for the network. */
#define LINK_ROUND_MAX_S 1e-3
#define PAIR_MAX_S 0.1
enum { LOOKS_FEW = 50, RUNS_MIN = 2 };

/* ---- messages -------------------------------------------------------------------------------- */

/* One tag for all messages: between two ranks they come in a known order. */
enum { TAG = 0 };

static void wait_for(const struct bc_clock_pair *pair, MPI_Request *request)
{
    int done = 0;
    if (!pair->shares_processors && !pair->is_slow) {
        BC_MPI(PMPI_Wait(request, MPI_STATUS_IGNORE));
        return;
    }
    for (int looks = 0; !done; looks++) {
        if (looks > (pair->is_slow ? LOOKS_FEW : LOOKS))
            (void)sched_yield();
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

void bc_pair_send(const struct bc_clock_tree *tree, const void *data, size_t bytes, int peer)
{
    BC_MPI(PMPI_Send(data, (int)bytes, MPI_BYTE, peer, TAG, tree->comm));
}

static void post(const struct bc_clock_tree *tree, void *data, size_t bytes, int peer,
                 MPI_Request *request)
{
    BC_MPI(PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, TAG, tree->comm, request));
}

void bc_pair_receive(const struct bc_clock_pair *pair, const struct bc_clock_tree *tree, void *data,
                     size_t bytes, int peer)
{
    MPI_Request request;
    post(tree, data, bytes, peer, &request);
    wait_for(pair, &request);
}

/* ---- round trips ----------------------------------------------------------------------------- */

/* The announcement of the rank that began, in each message. */
enum next { LAST, LAST_OF_SLOW_RUN, LAST_AS_TIME_IS_OVER, MORE };

struct stamp {
    int64_t sent_ns;
    int64_t next;
};

static void send_stamp(const struct bc_clock_tree *tree, enum next next, int peer)
{
    const struct stamp stamp = {.next = next, .sent_ns = bc_now_ns()};
    bc_pair_send(tree, &stamp, sizeof stamp, peer);
}

/* Returns the shortest time between two successive arrivals of the `count` messages. */
static double shortest_round_s(const struct bc_timestamps *timestamps, size_t count)
{
    int64_t shortest_ns = INT64_MAX;
    for (size_t i = 1; i < count; i++) {
        const int64_t round_ns = timestamps[i].arrived_ns - timestamps[i - 1].arrived_ns;
        shortest_ns = round_ns < shortest_ns ? round_ns : shortest_ns;
    }
    return (double)shortest_ns * 1e-9;
}

/* Returns the announcement after `count` messages of a run that was to end at end_s. */
static enum next next_of(const struct bc_clock_pair *pair, size_t count, double end_s)
{
    if (count >= ROUNDS_MAX - 1)
        return LAST;
    if (count < ROUNDS_MIN)
        return MORE;
    const double now_s = bc_elapsed_s();
    if (now_s < end_s)
        return MORE;
    const double round_s = fmin(shortest_round_s(pair->timestamps, count), LINK_ROUND_MAX_S);
    if (now_s < end_s + SLOW_S + ROUNDS_MIN * round_s)
        return LAST;
    return now_s < pair->give_up_s ? LAST_OF_SLOW_RUN : LAST_AS_TIME_IS_OVER;
}

/* Sends timestamps to and fro, with the same calls in the same order on both ranks of a pair: a
   receive is posted before its message arrives. Stores the timestamps of received messages. Returns
   the last announcement, the same on both ranks. */
static enum next round_trips(struct bc_clock_pair *pair, const struct bc_clock_tree *tree, int peer,
                             bool begins, double seconds, size_t *count)
{
    const double end_s = bc_elapsed_s() + seconds;
    struct stamp came;
    MPI_Request request;
    enum next next = MORE;
    if (pair->give_up_s == 0.0)
        pair->give_up_s = end_s + PAIR_MAX_S;
    post(tree, &came, sizeof came, peer, &request);
    if (begins)
        send_stamp(tree, next, peer);
    for (*count = 0;;) {
        wait_for(pair, &request);
        const int64_t arrived_ns = bc_now_ns();
        pair->timestamps[(*count)++] = (struct bc_timestamps){came.sent_ns, arrived_ns};
        if (begins && next != MORE)
            break;
        next = begins ? next_of(pair, *count, end_s) : (enum next)came.next;
        if (begins || next == MORE)
            post(tree, &came, sizeof came, peer, &request);
        send_stamp(tree, next, peer);
        if (!begins && next != MORE)
            break;
    }
    return next;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Makes a run. The rank that is compared with the reference gets both hulls. */
static enum next make_run(struct bc_clock_pair *pair, const struct bc_clock_tree *tree, int peer,
                          bool is_reference, bool begins, double seconds, struct bc_exchange *new)
{
    size_t count;
    if (begins && (pair->shares_processors || pair->is_slow))
        bc_sleep_ns(NAP_NS);
    const enum next end = round_trips(pair, tree, peer, begins, seconds, &count);
    bc_hull_find(pair->timestamps, count, &new->there);
    if (is_reference)
        bc_pair_send(tree, &new->there, sizeof new->there, peer);
    else
        bc_pair_receive(pair, tree, &new->back, sizeof new->back, peer);
    return end;
}

size_t bc_pair_measure(struct bc_clock_pair *pair, const struct bc_clock_tree *tree, int peer,
                       bool is_reference, double seconds, struct bc_exchange *exchanges)
{
    char ready = 0;
    if (!is_reference)
        bc_pair_send(tree, &ready, 1, peer);
    bc_pair_receive(pair, tree, &ready, 1, peer);
    if (is_reference)
        bc_pair_send(tree, &ready, 1, peer);
    pair->give_up_s = 0.0;
    enum next end = LAST;
    int run = 0;
    while (run < (end == LAST_AS_TIME_IS_OVER ? RUNS_MIN : BC_PAIR_RUNS)) {
        struct bc_exchange new;
        const bool begins = (run % 2 == 0) == is_reference;
        end = make_run(pair, tree, peer, is_reference, begins, seconds / BC_PAIR_RUNS, &new);
        pair->is_slow |= end != LAST;
        if (end == LAST_OF_SLOW_RUN)
            continue;
        if (!is_reference)
            exchanges[run] = new;
        run++;
    }
    pair->is_slow = false;
    return is_reference ? 0 : (size_t)run;
}
