/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources of made-up stops. Stops with a period are found; random stops, bursts, and stops of all
   ranks alike aren't. The rank with more stops than the others is named. */
#include "common/stats/random.h"
#include "helpers.h"
#include "noise/sources.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* As a run with defaults watches: the time of all visits, and of each. */
enum { VISITS = 6, STOPS_MAX = 100000 };
#define ALL_S 12.3
#define WATCHED_S 1.667
static const double visit_begins_s[VISITS] = {0.0, 2.417, 4.1, 6.517, 8.2, 10.617};
#define ALPHA 0.01

/* Each run draws the same random numbers. 80 to 100 % of the clocks of each kind are found
   (COMMCOST_FULL_TESTS shows it); one in a hundred streams without a clock may be taken for one. */
#ifdef COMMCOST_FULL_TESTS
enum { TRIALS = 200, NONE_MAX = 6 };
#define RIGHT_MIN 0.75
#else
enum { TRIALS = 4, NONE_MAX = 1 };
#define RIGHT_MIN 0.5
#endif

/* ---- made-up stops --------------------------------------------------------------------------- */

static uint64_t chance = 1;

/* In (0, 1). */
static double uniform(void) { return ((double)(bc_random_next(&chance) >> 11) + 0.5) * 0x1p-53; }

static double between(double min, double max) { return min * pow(max / min, uniform()); }

static double exponential(double mean) { return -mean * log(uniform()); }

static struct noise_stop made[STOPS_MAX];
static size_t made_count;

/* True if the rank was watched then. */
static bool make(double begin_s, double length_us)
{
    bool is_watched = false;
    for (int i = 0; i < VISITS; i++)
        is_watched =
            is_watched || (begin_s >= visit_begins_s[i] && begin_s < visit_begins_s[i] + WATCHED_S);
    if (made_count == STOPS_MAX || !is_watched)
        return false;
    made[made_count++] = (struct noise_stop){(int64_t)(begin_s * 1e9), (int64_t)(length_us * 1e3)};
    return true;
}

/* Makes stops at random times, `rate` per second. */
static void make_random(double rate, double min_us, double max_us)
{
    for (double at_s = exponential(1.0 / rate); at_s < ALL_S; at_s += exponential(1.0 / rate))
        make(at_s, between(min_us, max_us));
}

/* Makes bursts at random times, each of up to 20 stops about 30 us apart. */
static void make_bursts(double rate, double min_us, double max_us)
{
    for (double at_s = exponential(1.0 / rate); at_s < ALL_S; at_s += exponential(1.0 / rate)) {
        double stop_s = at_s;
        for (int i = (int)(20.0 * uniform()); i >= 0; i--) {
            make(stop_s, between(min_us, max_us));
            stop_s += max_us * 1e-6 + exponential(30e-6);
        }
    }
}

/* Makes the stops of a clock. A stop is late by `jitter_s` on average; the next one is due a period
   after this one was due, or if the clock drifts, after this one came. Returns the number of stops
   in watched time. */
static int make_clock(double period_s, double jitter_s, bool drifts, double length_us)
{
    double due_s = period_s * uniform();
    int seen = 0;
    while (due_s < ALL_S) {
        const double late_s = exponential(jitter_s);
        seen += make(due_s + late_s, length_us * (0.95 + 0.1 * uniform()));
        due_s += period_s + (drifts ? late_s - jitter_s : 0.0);
    }
    return seen;
}

static int by_begin(const void *a, const void *b)
{
    const struct noise_stop *const left = a, *const right = b;
    return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* Returns the made stops as a rank sees them: in order, and no stop in another one. */
static struct noise_stops as_seen(void)
{
    static struct noise_watch visits[VISITS];
    int64_t over_ns = 0;
    size_t count = 0;
    qsort(made, made_count, sizeof *made, by_begin);
    for (size_t i = 0; i < made_count; i++)
        if (made[i].begin_ns >= over_ns) {
            made[count++] = made[i];
            over_ns = made[i].begin_ns + made[i].length_ns;
        }
    made_count = 0;
    for (int i = 0; i < VISITS; i++)
        visits[i] = (struct noise_watch){.begin_ns = llround(visit_begins_s[i] * 1e9),
                                         .end_ns = llround((visit_begins_s[i] + WATCHED_S) * 1e9),
                                         .watched_ns = llround(WATCHED_S * 1e9),
                                         .quanta = 1};
    return (struct noise_stops){
        .stop = made, .count = count, .visits = visits, .visit_count = VISITS};
}

static struct noise_period found[NOISE_PERIODS_MAX];
static signed char source[STOPS_MAX];

static int find(void)
{
    const struct noise_stops seen = as_seen();
    return noise_periods_find(&seen, ALPHA, 0.95, found, source);
}

static size_t members(int number, size_t count)
{
    size_t members = 0;
    for (size_t i = 0; i < count; i++)
        members += source[i] == number;
    return members;
}

/* ---- periods --------------------------------------------------------------------------------- */

static void like_a_host(void) { make_random(3000.0, 0.6, 12.0); }

static void like_a_host_in_bursts(void)
{
    make_random(500.0, 0.6, 12.0);
    make_bursts(50.0, 2.0, 60.0);
}

/* Where the host itself stops ranks for milliseconds. */
static void like_a_noisy_host(void)
{
    make_random(500.0, 0.6, 12.0);
    make_random(4.0, 1000.0, 8000.0);
}

/* One period is found, right to 1 %, with an interval that mostly holds it, and its stops. */
TEST(clocks_are_found)
{
    static const struct {
        double min_s, max_s, jitter;
        bool drifts;
        double length_us;
        void (*background)(void);
    } clocks[] = {
        /* A daemon of 1 ms that looks after something once a second. */
        {0.95, 1.05, 1e-3, true, 1000.0, like_a_host},
        {0.95, 1.05, 1e-3, false, 1000.0, like_a_host_in_bursts},
        {0.95, 1.05, 1e-3, false, 2000.0, like_a_noisy_host},
        /* A timer's tick among stops of the same length. */
        {1e-3, 4e-3, 2e-3, false, 3.0, like_a_host},
        {5e-3, 0.1, 3e-3, true, 60.0, like_a_host},
    };
    int all_right = 0, held = 0;
    for (size_t c = 0; c < COUNT(clocks); c++) {
        int right = 0;
        for (int i = 0; i < TRIALS; i++) {
            const double period_s = between(clocks[c].min_s, clocks[c].max_s);
            clocks[c].background();
            const int stops = make_clock(period_s, clocks[c].jitter * period_s, clocks[c].drifts,
                                         clocks[c].length_us * between(0.8, 1.25));
            const struct noise_stops seen = as_seen();
            if (noise_periods_find(&seen, ALPHA, 0.95, found, source) != 1)
                continue;
            right += fabs(found[0].period_ns * 1e-9 / period_s - 1.0) < 0.01 &&
                     fabs((double)members(0, seen.count) - stops) <= fmax(0.05 * stops, 1.0);
            held += found[0].interval_ns.lo <= period_s * 1e9 &&
                    found[0].interval_ns.hi >= period_s * 1e9;
        }
        print_message("of %d clocks %d are right\n", TRIALS, right);
        assert_true(right >= RIGHT_MIN * TRIALS);
        all_right += right;
    }
    print_message("%d of %d periods are in their intervals\n", held, all_right);
    assert_true(held >= 0.7 * all_right);
}

static void rare_bursts(void) { make_bursts(between(0.5, 5.0), 20.0, 2000.0); }

static void rare_stops(void) { make_random(between(0.5, 5.0), 20.0, 2000.0); }

/* Random stops whose rate rises and falls. */
static void waves(void)
{
    const double wave_s = between(0.2, 2.0);
    for (double at_s = exponential(1e-3); at_s < ALL_S; at_s += exponential(1e-3))
        if (uniform() < 0.6 + 0.4 * sin(6.2831853 * at_s / wave_s))
            make(at_s, between(2.0, 30.0));
}

/* A clock is hardly ever found in stops that have none. */
TEST(no_clock)
{
    static void (*const backgrounds[])(void) = {like_a_host, like_a_host_in_bursts, rare_bursts,
                                                rare_stops, waves};
    for (size_t b = 0; b < COUNT(backgrounds); b++) {
        int named = 0;
        for (int i = 0; i < TRIALS; i++) {
            backgrounds[b]();
            named += find() > 0;
        }
        print_message("in %d of %d streams without a clock one is found\n", named, TRIALS);
        assert_true(named <= NONE_MAX);
    }
}

/* The list of stops was full, so later visits were not watched. */
TEST(a_clock_before_the_list_was_full)
{
    enum { WATCHED = 3 };
    for (double at_s = 0.01; at_s < visit_begins_s[WATCHED - 1] + WATCHED_S; at_s += 0.02)
        make(at_s, 200.0);
    struct noise_stops seen = as_seen();
    for (int visit = WATCHED; visit < VISITS; visit++)
        seen.visits[visit] = (struct noise_watch){0};
    assert_int_equal(noise_last_watched(&seen), WATCHED - 1);
    assert_int_equal(noise_periods_find(&seen, ALPHA, 0.95, found, source), 1);
    assert_true(fabs(found[0].period_ns / 2e7 - 1.0) < 1e-3);
}

/* A daemon that wakes up every 110 ms with eleven stops of about one length is one source, and two
   clocks with the same period whose stops differ by much are two. */
TEST(several_stops_a_period)
{
    for (int kinds = 1; kinds <= 2; kinds++) {
        made_count = 0;
        for (double at_s = 0.05; at_s < ALL_S; at_s += 0.11)
            for (int i = 0; i < 11; i++)
                make(at_s + 3e-4 * i, kinds == 2 && i == 0 ? 40.0 : between(1.4, 2.0));
        assert_int_equal(find(), kinds);
        for (int i = 0; i < kinds; i++)
            assert_true(fabs(found[i].period_ns / 110e6 - 1.0) < 0.001);
    }
}

TEST(too_few_stops)
{
    struct noise_stops seen = as_seen();
    assert_int_equal(noise_periods_find(&seen, ALPHA, 0.95, found, source), 0);
    make(0.5, 10.0);
    seen = as_seen();
    assert_int_equal(noise_periods_find(&seen, ALPHA, 0.95, found, source), 0);
    assert_int_equal(source[0], NOISE_NO_PERIOD);
}

/* ---- ranks that have more -------------------------------------------------------------------- */

enum { RANKS_MAX = 64 };
/* As noise has them: visits in four parts each, which have more in common than visits. */
enum { PARTS = 4, ROWS = PARTS * VISITS };
static struct noise_rate rates[RANKS_MAX * ROWS * NOISE_CLASSES];

static struct noise_rate *rate(int rank, int row, int class)
{
    return &rates[(rank * ROWS + row) * NOISE_CLASSES + class];
}

/* Adds stops of one length at a rate, with chance and differences of visits. */
static void add_rate(int rank, double per_s, double length_ns, double unsteady)
{
    for (int visit = 0; visit < VISITS; visit++) {
        const double level = per_s * (1.0 + unsteady * (2.0 * uniform() - 1.0));
        for (double at_s = exponential(1.0 / level); at_s < WATCHED_S;
             at_s += exponential(1.0 / level)) {
            struct noise_rate *const cell =
                rate(rank, PARTS * visit + (int)(PARTS * at_s / WATCHED_S),
                     noise_class_of((int64_t)length_ns));
            cell->per_s += PARTS / WATCHED_S;
            cell->stopped_ns_per_s += PARTS * length_ns / WATCHED_S;
        }
    }
}

static void begin_ranks(int ranks)
{
    memset(rates, 0, sizeof rates);
    for (int rank = 0; rank < ranks; rank++) {
        add_rate(rank, 2000.0, 1500.0, 0.2);
        add_rate(rank, 1000.0, 5000.0, 0.2);
        add_rate(rank, 20.0, 50000.0, 0.5);
        add_rate(rank, 0.5, 2e6, 0.5);
    }
}

static const struct noise_limits limits = {ALPHA, 0.05, 0.95};

static struct noise_source uneven; /* the first rank that was named */

static int find_uneven(const struct noise_rate *all_rates, int ranks, int rows)
{
    const struct noise_rates seen = {
        .no_period = rates, .all = all_rates, .ranks = ranks, .rows = rows};
    struct noise_source *named;
    const int count = noise_uneven_find(&seen, &limits, &named);
    assert_int_equal(named == NULL, count == 0);
    if (count > 0)
        uneven = named[0];
    free(named);
    return count;
}

TEST(the_rank_that_has_more)
{
    static const int sizes[] = {2, 4, 16, RANKS_MAX};
    int right = 0, trials = 0;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int k = 0; k < TRIALS; k++, trials++) {
            const int ranks = sizes[i], planted = (int)(uniform() * ranks);
            const double per_s = between(100.0, 400.0), length_ns = between(2e4, 2e6);
            begin_ranks(ranks);
            add_rate(planted, per_s, length_ns, 0.0);
            right += find_uneven(rates, ranks, ROWS) == 1 && uneven.rank == planted &&
                     fabs(uneven.amount.per_s.value / per_s - 1.0) < 0.2 &&
                     fabs(uneven.amount.length_ns.value / length_ns - 1.0) < 0.1;
        }
    print_message("of %d ranks with more stops than others %d are named\n", trials, right);
    assert_true(right >= 0.9 * trials);
}

/* Differences of visits are in the intervals; parts of a visit don't show them. */
TEST(intervals_are_over_visits)
{
    enum { LAUNCHES = 100 };
    int holds = 0, named_times = 0;
    for (int k = 0; k < LAUNCHES; k++) {
        memset(rates, 0, sizeof rates);
        add_rate(0, 300.0, 2e4, 0.0);
        add_rate(1, 300.0, 2e4, 0.0);
        add_rate(1, 400.0, 2e4, 0.5);
        if (find_uneven(rates, 2, ROWS) != 1)
            continue;
        named_times++;
        holds +=
            uneven.amount.per_s.interval.lo <= 400.0 && uneven.amount.per_s.interval.hi >= 400.0;
    }
    print_message("%d of %d intervals hold the rate\n", holds, named_times);
    assert_true(named_times >= 0.9 * LAUNCHES);
    assert_true(holds >= 0.9 * named_times);
}

/* Visits of either rank differ by half. */
TEST(ranks_that_are_alike_and_unsteady)
{
    enum { LAUNCHES = 300 };
    int wrong = 0;
    for (int k = 0; k < LAUNCHES; k++) {
        memset(rates, 0, sizeof rates);
        for (int rank = 0; rank < 2; rank++)
            add_rate(rank, 300.0, 2e4, 0.87);
        wrong += find_uneven(rates, 2, ROWS) > 0;
    }
    print_message("of %d jobs of unsteady ranks %d have one named\n", LAUNCHES, wrong);
    assert_true(wrong <= 3 * ALPHA * LAUNCHES);
}

/* Adds stops with a period to a copy of the rates: `per_s` of one length on a rank. */
static void add_periodic(struct noise_rate *all, int rank, double per_s, double length_ns)
{
    for (int row = 0; row < ROWS; row++) {
        struct noise_rate *const cell =
            &all[(rank * ROWS + row) * NOISE_CLASSES + noise_class_of((int64_t)length_ns)];
        cell->per_s += per_s;
        cell->stopped_ns_per_s += per_s * length_ns;
    }
}

/* All ranks have a clock, but on rank MISSED its period isn't found. That rank has more stops
   without a period but not in total, and isn't named; rank MORE has more of both and is. */
TEST(a_clock_that_one_rank_missed)
{
    enum { RANKS = 16, MISSED = 5, MORE = 9, TICKS = 250 };
    static struct noise_rate all[RANKS * ROWS * NOISE_CLASSES];
    begin_ranks(RANKS);
    add_rate(MISSED, TICKS, 2e5, 0.0);
    assert_int_equal(find_uneven(rates, RANKS, ROWS), 1);
    assert_int_equal(uneven.rank, MISSED);
    add_rate(MORE, TICKS, 1e6, 0.0);
    memcpy(all, rates, sizeof all);
    for (int rank = 0; rank < RANKS; rank++)
        if (rank != MISSED)
            add_periodic(all, rank, TICKS, 2e5);
    assert_int_equal(find_uneven(all, RANKS, ROWS), 1);
    assert_int_equal(uneven.rank, MORE);
}

/* Rank 0 has its own clock, and loses more time in all its stops than rank MORE, which
   is named. */
TEST(beside_a_rank_with_a_clock)
{
    enum { RANKS = 2, MORE = 1 };
    static struct noise_rate all[RANKS * ROWS * NOISE_CLASSES];
    begin_ranks(RANKS);
    add_rate(MORE, 200.0, 1e5, 0.0);
    memcpy(all, rates, sizeof all);
    add_periodic(all, 0, 20.0, 5e6);
    assert_int_equal(find_uneven(all, RANKS, ROWS), 1);
    assert_int_equal(uneven.rank, MORE);
}
