/*
 * Does what a benchmark finds depend on the number of ranks? Simulates rounds of up to 10,000 ranks
 * that are stopped at random, and gives them to what overlap and mpi_overhead make their results
 * of. Times of different ranks are independent of each other.
 */
#include "helpers.h"

#include "common/stats/samples.h"
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

/* ---- overlap --------------------------------------------------------------------------------- */

/* An operation of 20 us of which a half proceeds by itself, and work that is longer by a margin. */
#define OPERATION_NS 20000.0
#define OWN_NS 10000.0
#define WORK_NS (OWN_NS + 500.0)
#define TRUE_PCT 50.0
#define TARGET_PCT 1.0

enum { ROUNDS = 30 };

/* The operation alone: stops while it proceeds by itself don't make it longer. */
static double reference_ns(struct random *random)
{
    return OWN_NS + with_stops(random, OPERATION_NS - OWN_NS);
}

static void take_rounds(struct random *random, struct bc_samples *own)
{
    bc_samples_clear(own);
    for (int round = 0; round < ROUNDS; round++) {
        const double times_ns[OVERLAP_OWN_QUANTITIES] = {
            [OVERLAP_OWN_REFERENCE] = reference_ns(random) + jitter(random),
            [OVERLAP_OWN_EXPOSED] = with_stops(random, OPERATION_NS - OWN_NS) + jitter(random),
            [OVERLAP_OWN_INSIDE] = with_stops(random, WORK_NS) + jitter(random),
            [OVERLAP_OWN_ALONE] = with_stops(random, WORK_NS) + jitter(random),
        };
        bc_samples_append(own, times_ns, OVERLAP_OWN_QUANTITIES, 0);
    }
}

/* What a visit says: the slowest ranks' estimates. */
static double visit_pct(struct random *random, int ranks)
{
    struct overlap_estimate slowest[OVERLAP_ESTIMATED];
    struct bc_samples own = {.count = 0};
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        slowest[i] = (struct overlap_estimate){-INFINITY, NAN};
    for (int rank = 0; rank < ranks; rank++) {
        struct overlap_estimate estimates[OVERLAP_ESTIMATED];
        take_rounds(random, &own);
        overlap_estimate_own(&own, 0, own.count, CONFIDENCE, estimates);
        for (int i = 0; i < OVERLAP_ESTIMATED; i++)
            if (estimates[i].ns > slowest[i].ns)
                slowest[i] = estimates[i];
    }
    bc_samples_free(&own);
    return 100.0 * overlap_knee_of(slowest) / slowest[OVERLAP_EST_REFERENCE].ns;
}

static void test_overlap(void **state)
{
    struct random random = random_from(1);
    (void)state;
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

/* ---- mpi_overhead ---------------------------------------------------------------------------- */

/* Iterations of 10 us of work and a message that takes 1 us of the processor, two in a loop, as
   many as its loops have with such work. */
#define ITERATION_WORK_NS 10000.0
#define OVERHEAD_NS 1000.0
#define OVERHEAD_TARGET_NS 50.0

enum { ITERATIONS = 2, LOOPS = 50 };

/* A round: the slowest pair's times an iteration, with and without the message. */
static void take_loops(struct random *random, int pairs, double values[2])
{
    values[0] = values[1] = -INFINITY;
    for (int pair = 0; pair < pairs; pair++) {
        const double iter_ns =
            with_stops(random, ITERATIONS * (ITERATION_WORK_NS + OVERHEAD_NS)) + jitter(random);
        const double work_ns = with_stops(random, ITERATIONS * ITERATION_WORK_NS) + jitter(random);
        values[0] = fmax(values[0], iter_ns / ITERATIONS);
        values[1] = fmax(values[1], work_ns / ITERATIONS);
    }
}

static void test_overhead(void **state)
{
    struct random random = random_from(2);
    (void)state;
    for (int i = 0; i < NUMBERS; i++) {
        struct bc_samples samples = {.count = 0};
        for (int visit = 0; visit < VISITS; visit++) {
            bc_samples_begin_visit(&samples);
            for (int loop = 0; loop < LOOPS; loop++) {
                double values[2];
                take_loops(&random, numbers_of_ranks[i] / 2, values);
                bc_samples_append(&samples, values, 2, 0);
            }
        }
        const struct bc_summary found = bc_samples_summarize(&samples, 0, 1, BC_MEDIAN, CONFIDENCE);
        print_message("overhead of %g ns, %d ranks: %.1f ns (%.1f to %.1f)\n", OVERHEAD_NS,
                      numbers_of_ranks[i], found.value, found.interval.lo, found.interval.hi);
        assert_true(fabs(found.value - OVERHEAD_NS) <= OVERHEAD_TARGET_NS);
        bc_samples_free(&samples);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_overhead),
    };
    return cmocka_run_group_tests_name("many_ranks", tests, NULL, NULL);
}
