/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of clocks whose offset and drift are known, from messages that are made up.
 */
#include "helpers.h"

#include "common/sync_clock/clock_model.h"

#include <stdbool.h>

/* A pair of clocks, and how long messages between them take. */
struct pair {
    struct random random;
    double ahead_ns, drift; /* of the other clock, at the reference's 0 */
    double bend;            /* growth of the drift in a ns */
    double delay_ns;        /* one way, undisturbed */
    double more_back_ns;    /* by how much messages back take longer */
    double noise_ns;        /* mean of the exponential noise that is added to each delay */
    double disturbed;       /* the share of messages that are disturbed, by 10 us to
                               10 ms */
};

static const int64_t epoch_ns = INT64_C(30000000) * 1000000000; /* a year up */

static double other_time(const struct pair *pair, double reference_ns)
{
    return reference_ns + pair->ahead_ns + pair->drift * reference_ns +
           pair->bend * reference_ns * reference_ns / 2.0;
}

static double delay(struct pair *pair)
{
    double ns = pair->delay_ns - pair->noise_ns * log(random_uniform(&pair->random));
    if (random_uniform(&pair->random) < pair->disturbed)
        ns += 1e4 * pow(1e3, random_uniform(&pair->random));
    return ns;
}

/* Makes messages to and fro, the first one at this time of the reference. Returns when they end. */
static double exchange(struct pair *pair, double from_ns, int rounds, struct bc_exchange *exchange)
{
    static struct bc_timestamps there[1000], back[1000];
    double now_ns = from_ns;
    for (int i = 0; i < rounds; i++) {
        there[i].sent_ns = epoch_ns + llround(now_ns);
        now_ns += delay(pair);
        there[i].arrived_ns = llround(other_time(pair, now_ns));
        now_ns += 50.0;
        back[i].sent_ns = llround(other_time(pair, now_ns));
        now_ns += delay(pair) + pair->more_back_ns;
        back[i].arrived_ns = epoch_ns + llround(now_ns);
        now_ns += 50.0;
    }
    bc_hull_find(there, (size_t)rounds, &exchange->there);
    bc_hull_find(back, (size_t)rounds, &exchange->back);
    return now_ns;
}

/* The error of the model in ns when the reference's clock shows `reference_ns`. */
static double error_at(const struct pair *pair, const struct bc_clock_model *model,
                       double reference_ns)
{
    const int64_t other_ns = llround(other_time(pair, reference_ns));
    return (double)(bc_clock_model_reference(model, other_ns) - epoch_ns - llround(reference_ns));
}

/* The exchanges of a burst, one a millisecond. A burst begins each second. */
enum { RUNS = 8 };

static double start_of(int exchange_number)
{
    const int burst = exchange_number / RUNS, run = exchange_number % RUNS;
    return 1e9 * burst + 1e6 * run;
}

/* The bound of a model. */
static struct bc_clock_bound bound_of(const struct bc_exchange *exchanges, int count,
                                      const struct bc_clock_model *model)
{
    return bc_clock_model_bound(exchanges, (size_t)count, model,
                                BC_RATE_DIFFERENCE + fabs(model->drift));
}

/* The model of a pair of clocks after some bursts of exchanges. */
static struct bc_clock_model measure(struct pair *pair, int bursts,
                                     struct bc_clock_model_quality *quality,
                                     struct bc_clock_bound *bound)
{
    static struct bc_exchange exchanges[BC_EXCHANGES_MAX];
    for (int i = 0; i < bursts * RUNS; i++)
        exchange(pair, start_of(i), 400, &exchanges[i]);
    const struct bc_clock_model model =
        bc_clock_model_fit(exchanges, (size_t)bursts * RUNS, quality);
    *bound = bound_of(exchanges, bursts * RUNS, &model);
    return model;
}

static struct pair quiet_pair(uint64_t seed)
{
    return (struct pair){.random = random_from(seed),
                         .ahead_ns = 1e9,
                         .drift = 50e-6,
                         .delay_ns = 300.0,
                         .noise_ns = 50.0};
}

TEST(models_are_found)
{
    static const double drifts[] = {0.0, 50e-6, -50e-6, 500e-6};
    static const double aheads[] = {0.0, 1e9, -1e9, 3e16};
    uint64_t seed = 1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            struct bc_clock_model_quality quality;
            struct bc_clock_bound bound;
            struct pair pair = quiet_pair(seed++);
            pair.drift = drifts[i];
            pair.ahead_ns = aheads[j];
            const struct bc_clock_model model = measure(&pair, 2, &quality, &bound);
            /* 3e16 ns are known to 4 ns in the test itself. */
            assert_near(error_at(&pair, &model, 1e9), 0.0, 8.0);
            assert_near(error_at(&pair, &model, 11e9), 0.0, 40.0);
            assert_true(quality.error_ns < 20.0);
            assert_near(quality.growth, 0.0, 40e-9);
            assert_near(bound.first_error_ns, 310.0, 20.0);
            assert_near(bound.last_error_ns, 310.0, 20.0);
        }
}

/* Nine messages of ten are disturbed, and so is one whole burst of exchanges. */
TEST(disturbances_do_no_harm)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct bc_clock_model_quality quality;
        struct bc_clock_bound bound;
        struct pair pair = quiet_pair(seed);
        pair.disturbed = 0.9;
        const struct bc_clock_model model = measure(&pair, 2, &quality, &bound);
        assert_near(error_at(&pair, &model, 1e9), 0.0, 40.0);
        assert_true(bound.last_error_ns >= fabs(error_at(&pair, &model, 1e9)));
    }
}

/* Three bursts of five are slow in one direction only, which no single exchange shows. */
TEST(disturbed_exchanges_do_not_count)
{
    enum { COUNT = 5 * RUNS };
    static struct bc_exchange exchanges[COUNT];
    struct pair pair = quiet_pair(1);
    struct bc_clock_model_quality quality;
    for (int i = 0; i < COUNT; i++) {
        const bool slow = i >= RUNS && i < 4 * RUNS;
        pair.delay_ns = slow ? 5000.0 : 300.0;
        exchange(&pair, start_of(i), 400, &exchanges[i]);
        for (int64_t j = 0; slow && j < exchanges[i].back.count; j++)
            exchanges[i].back.timestamps[j].arrived_ns -= 4700;
    }
    const struct bc_clock_model model = bc_clock_model_fit(exchanges, COUNT, &quality);
    assert_near(error_at(&pair, &model, 4e9), 0.0, 10.0);
    const struct bc_clock_bound bound = bound_of(exchanges, COUNT, &model);
    assert_near(bound.last_error_ns, 310.0, 20.0); /* half of a round trip */
    assert_int_equal(bc_clock_model_consistent(exchanges, COUNT, RUNS), COUNT);
}

/* If the newest exchanges are all slow, the model comes from the others, and its estimated error
   covers the time since then. */
TEST(slow_exchanges_are_admitted)
{
    static struct bc_exchange exchanges[2 * RUNS];
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct pair pair = quiet_pair(seed);
        struct bc_clock_model_quality quality;
        for (int i = 0; i < 2 * RUNS; i++) {
            pair.noise_ns = i / RUNS == 1 ? 40000.0 : 50.0;
            pair.delay_ns = i / RUNS == 1 ? 10000.0 : 300.0;
            exchange(&pair, start_of(i), 20, &exchanges[i]);
        }
        const struct bc_clock_model model = bc_clock_model_fit(exchanges, 2 * RUNS, &quality);
        const double error_ns = fabs(error_at(&pair, &model, 1e9 + 7e6));
        assert_true(quality.error_ns >= error_ns);
        assert_true(bound_of(exchanges, 2 * RUNS, &model).last_error_ns >= error_ns);
        assert_true(quality.error_ns > 1000.0);
    }
}

/* One burst tells an offset and no drift. */
TEST(one_burst_has_no_drift)
{
    struct bc_clock_model_quality quality;
    struct bc_clock_bound bound;
    struct pair pair = quiet_pair(2);
    pair.drift = 0.0;
    pair.delay_ns = 2000.0;
    const struct bc_clock_model model = measure(&pair, 1, &quality, &bound);
    assert_near(model.drift, 0.0, 1e-12);
    assert_near(error_at(&pair, &model, 1e6), 0.0, 10.0);
    assert_true(quality.growth > 0.5 * BC_DRIFT_MAX);
    /* So the bound is that of any two clocks, which is wider than what the burst's ends tell. */
    assert_near(bound.outside, BC_RATE_DIFFERENCE, 1e-12);
    const int64_t second_ns = 1000000000;
    assert_near(bc_clock_bound_ns(&bound, bound.last_ns + second_ns),
                bound.last_error_ns + 1e9 * BC_RATE_DIFFERENCE, 1.0);
}

/* A pair of any drift, of which messages in one direction may take longer than in the other, and
   many may be disturbed. */
static struct pair any_pair(uint64_t seed)
{
    struct pair pair = quiet_pair(seed);
    pair.drift = BC_RATE_DIFFERENCE * (2.0 * random_uniform(&pair.random) - 1.0);
    pair.more_back_ns = seed % 2 == 0 ? 0.0 : 3000.0 * random_uniform(&pair.random);
    pair.disturbed = 0.8 * random_uniform(&pair.random);
    return pair;
}

/* At no time is the error more than the bound, and it is no more than messages explain. */
TEST(errors_are_within_bounds)
{
    enum { SEEDS = 300, BURSTS_MAX = 4 };
    static struct bc_exchange exchanges[BURSTS_MAX * RUNS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pair pair = any_pair(seed);
        struct bc_clock_model_quality quality;
        const int bursts = 1 + (int)(seed / 2 % BURSTS_MAX);
        const double apart_ns = 1e7 * pow(1e3, random_uniform(&pair.random)); /* bursts */
        double now_ns = 0.0;
        for (int i = 0; i < bursts * RUNS; i++) {
            now_ns += i > 0 && i % RUNS == 0 ? apart_ns : 0.0;
            now_ns = exchange(&pair, now_ns, 50, &exchanges[i]);
        }
        const struct bc_clock_model model =
            bc_clock_model_fit(exchanges, (size_t)bursts * RUNS, &quality);
        const struct bc_clock_bound bound = bound_of(exchanges, bursts * RUNS, &model);
        for (int i = -8; i <= 16; i++) {
            const double ns = now_ns * i / 8.0;
            const double error_ns = fabs(error_at(&pair, &model, ns));
            const double max_ns = bc_clock_bound_ns(&bound, llround(other_time(&pair, ns)));
            if (error_ns > max_ns + 1.0)
                fail_msg("seed %d: at %g ns the error is %g ns, of at most %g", (int)seed, ns,
                         error_ns, max_ns);
        }
        if (bursts > 1 && apart_ns > 1e8) {
            assert_near(error_at(&pair, &model, 0.0), 0.0, pair.more_back_ns / 2.0 + 150.0);
            assert_near(error_at(&pair, &model, now_ns / 2.0), 0.0,
                        pair.more_back_ns / 2.0 + 150.0);
            assert_true(fmax(bound.first_error_ns, bound.last_error_ns) <
                        pair.more_back_ns + 600.0);
        }
    }
}

/* Between its ends the bound is a line plus the drift of the rates, outside it grows. */
TEST(bounds_grow_with_the_distance)
{
    const struct bc_clock_bound bound = {.first_ns = 1000000000,
                                         .last_ns = 3000000000,
                                         .first_error_ns = 100.0,
                                         .last_error_ns = 300.0,
                                         .between = 1e-8,
                                         .outside = 2.1e-7};
    static const double errors[][2] = {{1e9, 100.0},         {3e9, 300.0}, {2e9, 200.0 + 10.0},
                                       {1.5e9, 150.0 + 5.0}, {0.0, 310.0}, {5e9, 720.0}};
    for (size_t i = 0; i < COUNT(errors); i++)
        assert_near(bc_clock_bound_ns(&bound, (int64_t)errors[i][0]), errors[i][1], 1e-3);
}

/* Of clocks that are one, all messages tell the same: the shortest of any time bounds its error. */
TEST(the_bound_of_one_clock_does_not_grow)
{
    struct bc_exchange exchanges[2];
    struct pair pair = quiet_pair(5);
    const struct bc_clock_model same = {0};
    pair.drift = 0.0;
    pair.ahead_ns = (double)epoch_ns;
    exchange(&pair, 0.0, 400, &exchanges[0]);
    pair.delay_ns = 2000.0;
    exchange(&pair, 1e9, 400, &exchanges[1]);
    const struct bc_clock_bound bound = bc_clock_model_bound(exchanges, 2, &same, 0.0);
    assert_near(bound.first_error_ns, 305.0, 10.0);
    for (int64_t s = -10; s <= 10; s++)
        assert_near(bc_clock_bound_ns(&bound, bound.first_ns + s * 1000000000),
                    bound.first_error_ns, 1e-9);
}

/* Where the rate of a clock changes, old exchanges are left out. */
TEST(changed_rates_are_noticed)
{
    static struct bc_exchange exchanges[10 * RUNS];
    struct pair pair = quiet_pair(3);
    for (int bent = 0; bent < 2; bent++) {
        pair.bend = bent ? 2e-16 : 0.0; /* 0.2 ppm a second */
        for (int i = 0; i < 10 * RUNS; i++)
            exchange(&pair, start_of(i), 400, &exchanges[i]);
        const size_t straight = bc_clock_model_consistent(exchanges, 10 * RUNS, 2 * RUNS);
        if (!bent)
            assert_int_equal(straight, 10 * RUNS);
        else
            assert_in_range(straight, 2 * RUNS, 5 * RUNS);
        struct bc_clock_model_quality quality;
        const struct bc_clock_model model =
            bc_clock_model_fit(exchanges + 10 * RUNS - straight, straight, &quality);
        assert_near(error_at(&pair, &model, 9e9), 0.0, bent ? 400.0 : 10.0);
    }
}

TEST(one_clock_is_not_contradicted)
{
    for (int shift = -1000; shift <= 1000; shift += 1000) {
        struct pair pair = quiet_pair(4);
        struct bc_exchange exchanges[2];
        pair.drift = 0.0;
        pair.ahead_ns = (double)epoch_ns + shift;
        exchange(&pair, 0.0, 400, &exchanges[0]);
        exchange(&pair, 1e9, 400, &exchanges[1]);
        assert_int_equal(bc_may_be_one_clock(exchanges, 2), shift == 0);
    }
}

/* A hull with many corners is thinned without losing the quickest message. */
TEST(hulls_keep_the_min_delay)
{
    enum { COUNT = 400 };
    for (int quickest = 0; quickest < COUNT; quickest += 57) {
        struct bc_timestamps timestamps[COUNT];
        struct bc_hull hull;
        for (int i = 0; i < COUNT; i++) {
            const int64_t from_quickest = i - quickest;
            timestamps[i].sent_ns = epoch_ns + 1000000 * (int64_t)i;
            timestamps[i].arrived_ns = timestamps[i].sent_ns + 500 + from_quickest * from_quickest;
        }
        bc_hull_find(timestamps, COUNT, &hull);
        assert_in_range(hull.count, BC_HULL_MAX / 2, BC_HULL_MAX);
        int64_t found_ns = INT64_MAX;
        for (int64_t i = 0; i < hull.count; i++) {
            const struct bc_timestamps *const p = &hull.timestamps[i];
            if (p->arrived_ns - p->sent_ns < found_ns)
                found_ns = p->arrived_ns - p->sent_ns;
        }
        assert_int_equal(found_ns, 500);
    }
}

TEST(chains_are_sums)
{
    const struct bc_clock_model far = {epoch_ns, 1000000, 0.25, 100e-6};
    const struct bc_clock_model near = {epoch_ns + 5000000000, -3000000, 0.5, -30e-6};
    const struct bc_clock_model both = bc_clock_model_chain(&far, &near);
    for (int64_t s = -10; s <= 1000; s += 101) {
        const int64_t other_ns = epoch_ns + s * 1000000000;
        const int64_t between_ns = bc_clock_model_reference(&near, other_ns);
        assert_near((double)(bc_clock_model_reference(&both, other_ns) -
                             bc_clock_model_reference(&far, between_ns)),
                    0.0, 2.0);
        const int64_t back_ns =
            bc_clock_model_other(&both, bc_clock_model_reference(&both, other_ns));
        assert_near((double)(back_ns - other_ns), 0.0, 1.0);
    }
}
