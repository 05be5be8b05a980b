/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does the overlap that is found depend on the number of ranks? Simulates rounds of up to 10,000
 * ranks that are stopped at random, and gives them to the functions that make the result of rounds.
 * Times of different ranks are independent of each other.
 *
 * Other benchmarks have nothing to simulate: mpi_overhead's row is of one pair, and the others'
 * times are those of the slowest rank by definition.
 */
#include "helpers.h"

#include "overlap/engine/estimate.h"

#include <math.h>
#include <stdlib.h>

#define STOPS_PER_S 250.0
#define STOP_NS 2000.0
#define JITTER_NS 20.0 /* standard deviation of a time */
#define CONFIDENCE 0.95

enum { VISITS = 6, RANKS_MAX = 10000 };

static const int numbers_of_ranks[] = {2, 128, 1024, RANKS_MAX};
enum { NUMBERS = sizeof numbers_of_ranks / sizeof *numbers_of_ranks };

/* How long a rank needs for work of this length with the stops that come meanwhile. */
static double with_stops(struct random *random, double work_ns)
{
    double total_ns = work_ns;
    double next_ns = -log(random_uniform(random)) * 1e9 / STOPS_PER_S;
    while (next_ns < total_ns) {
        total_ns += STOP_NS;
        next_ns -= log(random_uniform(random)) * 1e9 / STOPS_PER_S;
    }
    return total_ns;
}

static double jitter(struct random *random) { return JITTER_NS * random_normal(random); }

/* An operation of 20 us, half of which proceeds without the host, and slightly longer work. */
#define OPERATION_NS 20000.0
#define OWN_NS 10000.0
#define WORK_NS (OWN_NS + 500.0)
#define TRUE_PCT 50.0
#define TARGET_PCT 1.0

enum { ROUNDS = 30 };

/* The operation alone: interruptions while it proceeds without the host don't make it longer. */
static double reference_ns(struct random *random)
{
    return OWN_NS + with_stops(random, OPERATION_NS - OWN_NS);
}

static void take_rounds(struct random *random, struct bc_samples *own)
{
    bc_samples_clear(own);
    for (int round = 0; round < ROUNDS; round++) {
        const double times_ns[OVERLAP_OWN_QUANTITIES] = {
            [OVERLAP_OWN_PLAIN] = reference_ns(random) + jitter(random),
            [OVERLAP_OWN_BESIDE] = with_stops(random, OPERATION_NS - OWN_NS) + jitter(random),
            [OVERLAP_OWN_INSIDE] = with_stops(random, WORK_NS) + jitter(random),
            [OVERLAP_OWN_ALONE] = with_stops(random, WORK_NS) + jitter(random),
        };
        bc_samples_append(own, times_ns, OVERLAP_OWN_QUANTITIES, 0);
    }
}

/* Returns the overlap of a visit, by the slowest ranks' estimates. */
static double visit_pct(struct random *random, int ranks)
{
    struct overlap_estimates slowest = {.ns = {0.0}};
    struct bc_samples own = {.count = 0};
    for (int rank = 0; rank < ranks; rank++) {
        take_rounds(random, &own);
        const struct overlap_estimates estimates = overlap_estimate_own(&own, 0, own.count);
        for (int i = 0; i < OVERLAP_ESTIMATED; i++)
            if (rank == 0 || estimates.ns[i] > slowest.ns[i])
                slowest.ns[i] = estimates.ns[i];
    }
    bc_samples_free(&own);
    return 100.0 * overlap_knee_of(&slowest) / slowest.ns[OVERLAP_EST_REFERENCE];
}

TEST(test_overlap)
{
    struct random random = random_from(1);
    for (int i = 0; i < NUMBERS; i++) {
        double answers[VISITS];
        for (int visit = 0; visit < VISITS; visit++)
            answers[visit] = visit_pct(&random, numbers_of_ranks[i]);
        const struct bc_summary found = bc_pseudomedian(answers, VISITS, CONFIDENCE);
        print_message("overlap of %g %%, %d ranks: %.2f %% (%.2f to %.2f)\n", TRUE_PCT,
                      numbers_of_ranks[i], found.value, found.interval.lo, found.interval.hi);
        assert_true(fabs(found.value - TRUE_PCT) <= TARGET_PCT);
    }
}
