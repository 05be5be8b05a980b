#include "overlap/engine/best_calls.h"
#include "overlap/engine/visit.h"

#include "common/mpi/harness.h"
#include "common/stats/stats.h"

#include <math.h>

/* Rounds with each number of calls that is tried. */
#define TRIAL_ROUNDS 5

/* Exposed times that differ by less than this share of the reference time are as good. */
#define TOLERANCE 0.005

/* Numbers whose exposed time exceeds the min by less than this share of the reference time are
   tried again, in turn, this many times; the median counts. */
#define CLOSE 0.25
#define TRIALS 3

/* The max number of calls that makes sense: each part of the work takes at least this time, or as
   long as two readings of the clock. */
#define PART_NS 100.0

static int64_t max_calls(const struct overlap_visit *visit)
{
    const double part_ns = fmax(PART_NS, 2.0 * visit->run->max_clock.read_ns);
    const double work_ns = visit->overlap->parameters.plenty * visit->reference_ns;
    return (int64_t)fmin(OVERLAP_TEST_CALLS_LIMIT, fmax(0.0, work_ns / part_ns - 1.0));
}

/* The exposed time with this number of calls. Collective. */
static double try_calls(struct overlap_visit *visit, int64_t calls, double deadline_s)
{
    double estimates_ns[OVERLAP_GAIN_ESTIMATED];
    visit->round.parts = calls + 1;
    overlap_choose_plenty(visit);
    bc_samples_clear(&visit->own_plenty);
    overlap_take_rounds(visit, 1, overlap_take_plenty, TRIAL_ROUNDS, deadline_s);
    overlap_estimate_gain(visit, 0, visit->own_plenty.count, estimates_ns);
    if (visit->overlap->parameters.debug)
        bc_output_remark(visit->run->output, "debug", "%lld calls of MPI_Test: %.3f us exposed",
                         (long long)calls, estimates_ns[OVERLAP_GAIN_EXPOSED] * 1e-3);
    return estimates_ns[OVERLAP_GAIN_EXPOSED];
}

/* Tries again, in turn, what is close to the best number, as long as there is time for all trials:
   `search` then has their medians. Collective; `search` counts at the root only. */
static void try_close_again(struct overlap_visit *visit, struct overlap_calls_search *search,
                            double deadline_s)
{
    int64_t close[OVERLAP_CALLS_TRIED_MAX + 1] = {0}; /* how many, then their places and calls */
    int64_t calls[OVERLAP_CALLS_TRIED_MAX] = {0};
    for (int i = 0; visit->root && i < search->count; i++) {
        if (overlap_calls_is_close(search, i, CLOSE * visit->reference_ns)) {
            calls[close[0]] = search->tried[i].calls;
            close[++close[0]] = i;
        }
    }
    bc_harness_bcast(close, OVERLAP_CALLS_TRIED_MAX + 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    bc_harness_bcast(calls, OVERLAP_CALLS_TRIED_MAX, MPI_INT64_T, 0, MPI_COMM_WORLD);
    double found_ns[OVERLAP_CALLS_TRIED_MAX][TRIALS] = {{0.0}};
    int turns = 0;
    for (; close[0] > 1 && turns < TRIALS; turns++) {
        int64_t goes_on = bc_elapsed_s() < deadline_s;
        bc_harness_bcast(&goes_on, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        if (!goes_on)
            break;
        for (int64_t i = 0; i < close[0]; i++)
            found_ns[i][turns] = try_calls(visit, calls[i], deadline_s);
    }
    if (!visit->root || turns < TRIALS)
        return;
    for (int64_t i = 0; i < close[0]; i++)
        search->tried[close[i + 1]].exposed_ns = bc_median(found_ns[i], TRIALS);
}

void overlap_find_test_calls(struct overlap_visit *visit, double seconds)
{
    const double deadline_s = bc_elapsed_s() + seconds;
    struct overlap_calls_search search;
    overlap_calls_begin(&search, max_calls(visit), TOLERANCE * visit->reference_ns);
    for (;;) {
        int64_t next = search.done || (search.count > 0 && bc_elapsed_s() >= deadline_s)
                           ? OVERLAP_AUTO
                           : search.next;
        bc_harness_bcast(&next, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        if (next == OVERLAP_AUTO)
            break;
        const double exposed_ns = try_calls(visit, next, deadline_s);
        if (visit->root)
            overlap_calls_report(&search, exposed_ns);
    }
    try_close_again(visit, &search, deadline_s);
    if (search.count > 0 && search.tried[0].calls == 0)
        visit->row->exposed_without_calls_ns = search.tried[0].exposed_ns;
    int64_t best = overlap_calls_best(&search);
    bc_harness_bcast(&best, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    visit->row->test_calls = best;
    bc_samples_clear(&visit->own_plenty);
}
