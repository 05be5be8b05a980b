/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds across ranks, in virtual time: a loop whose times are known notes the rounds that it gets.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/clock/source.h"
#include "common/measure/sequence.h"
#include "common/run/internal.h"

static struct bc_run run; /* default settings, one visit */
static struct bc_store store;
static struct bc_start_window *window;

#define LATE_NS 1000000 /* a start is late after half of this */
#define LATE_TIMES 10

/* ---- the loop -------------------------------------------------------------------------------- */

struct loop {
    double (*ns)(struct loop *loop, int quantity); /* of a repetition on this rank */
    double repetition_ns;
    bool lasts;     /* repetitions take their virtual time */
    double round_s; /* the virtual time of a round in addition */
    int disturbed;  /* the round that takes a second more, counted from 1; 0: none */
    int late_every; /* the last rank starts these rounds LATE_NS late; 0: none */
    MPI_Comm *comm; /* the ranks that take part; NULL: all */
    int64_t single; /* repetitions of the rounds that `singles` counts */
    struct random random;

    /* Notes. */
    int64_t repetitions; /* in the round in hand */
    int rounds, lead_ins, singles;
    int before_singles;               /* rounds */
    double singles_s, took_s;         /* the time of singles with their lead-ins, and of all */
    int searches, searches_in_window; /* rounds that find the batch length */
};

static double steady(struct loop *loop, int quantity) { return loop->repetition_ns + quantity; }

/* A different rank is slowest in each round. */
static double rotating(struct loop *loop, int quantity)
{
    return 1000.0 * loop->rounds + (rank + loop->rounds) % ranks + quantity;
}

/* Quantity 0 is slow on the last rank, and slower on all others, which wait, in a round of five;
   quantity 1 is slow on the first rank. */
static double slow_or_waiting(struct loop *loop, int quantity)
{
    const int slow = quantity == 0 ? ranks - 1 : 0;
    return rank == slow ? 12.0 : loop->rounds % 5 == 4 ? 30.0 : 10.0;
}

/* Shorter and shorter, until a repetition takes repetition_ns. */
static double falling(struct loop *loop, int quantity)
{
    return fmax(loop->repetition_ns, round(1e9 * pow(0.9, loop->rounds))) + quantity;
}

/* Quantity 0 varies by half, in the same way on all ranks. */
static double noisy(struct loop *loop, int quantity)
{
    return loop->repetition_ns * (quantity == 0 ? 0.5 + random_uniform(&loop->random) : 1.0);
}

/* One repetition of quantity 0 in 50, at random, takes LATE_TIMES as long. */
static double seldom_late(struct loop *loop, int quantity)
{
    double ns = 0.0;
    for (int64_t i = 0; i < loop->repetitions; i++)
        ns += loop->repetition_ns *
              (quantity == 0 && random_uniform(&loop->random) < 0.02 ? LATE_TIMES : 1);
    return ns / (double)loop->repetitions;
}

static struct bc_span time_quantity(struct loop *loop, const struct bc_round *round, int quantity)
{
    const double disturbance_ns = loop->rounds + 1 == loop->disturbed ? 1e9 : 0.0;
    const int64_t ns =
        llround(loop->ns(loop, quantity) * (double)round->repetitions + disturbance_ns);
    bc_sleep_ns(loop->lasts ? ns : 0);
    if (round->window == NULL)
        return (struct bc_span){0, ns};
    /* Rank r starts r + 1 us after the agreed start. */
    const bool late = loop->late_every > 0 && (loop->rounds + 1) % loop->late_every == 0;
    const int64_t after_ns = late && rank == ranks - 1 ? LATE_NS : 1000 * (rank + 1);
    const int64_t start_ns = after_ns - llround(bc_start_window_offset_ns(round->window, 0));
    return (struct bc_span){start_ns, start_ns + ns};
}

static void take(struct loop *loop, struct bc_rounds *rounds)
{
    const MPI_Comm comm = loop->comm != NULL ? *loop->comm : MPI_COMM_WORLD;
    const double start_s = bc_elapsed_s();
    loop->rounds = 0;
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL; loop->rounds++) {
        const double round_start_s = bc_elapsed_s();
        const bool searches = !bc_round_wants(round, 1);
        loop->repetitions = round->repetitions;
        bc_round_release(round, comm);
        bc_sleep_ns(loop->lasts ? llround(loop->repetition_ns) * round->lead_in : 0);
        bc_round_start(round);
        for (int q = 0; bc_round_wants(round, q); q++) {
            const struct bc_span span = time_quantity(loop, round, q);
            if (comm != MPI_COMM_NULL)
                bc_round_time(round, q, span);
        }
        bc_sleep_ns(llround(1e9 * loop->round_s));
        loop->took_s = bc_elapsed_s() - start_s;
        loop->lead_ins += (int)round->lead_in;
        loop->searches += searches;
        loop->searches_in_window += searches && round->window != NULL;
        if (round->repetitions != loop->single)
            continue;
        loop->singles_s += bc_elapsed_s() - round_start_s;
        if (loop->singles++ == 0)
            loop->before_singles = loop->rounds;
    }
}

/* The values that only rank 0 has; 0 on other ranks. */
static int64_t on_root(int64_t value) { return rank == 0 ? value : 0; }

/* Takes rounds of `count` quantities by rank 0's plan. True on rank 0 if they settled. */
static bool take_plan(struct loop *loop, int count, const struct bc_plan *plan)
{
    static const struct bc_plan no_plan = {.min_rounds = 1};
    const struct bc_quantities quantities = {.count = count};
    struct bc_rounds *const rounds =
        bc_rounds_by_plan(&run, &quantities, rank == 0 ? plan : &no_plan, &store.samples);
    take(loop, rounds);
    return on_root(bc_rounds_settled(rounds));
}

static struct bc_plan fixed_plan(int64_t rounds)
{
    return (struct bc_plan){.min_rounds = rounds, .max_rounds = rounds, .deadline_s = INFINITY};
}

static void empty_store(void)
{
    bc_store_free(&store);
    store = (struct bc_store){.repetitions = 0};
}

/* Takes the rounds of a row's only visit; returns its summary on rank 0. */
static struct bc_summary take_row(struct loop *loop, const struct bc_quantities *quantities,
                                  double seconds)
{
    empty_store();
    take(loop, bc_rounds_of(&run, quantities, seconds, &store));
    return rank == 0 ? bc_store_summary(&run, &store, -1) : (struct bc_summary){.count = 0};
}

static bool is_precise(const struct bc_quantities *quantities)
{
    return rank == 0 && bc_store_is_precise(&run, quantities, &store);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Each plan appends a visit on rank 0, of the slowest values; other ranks' stores stay empty. */
TEST(slowest_values_are_the_samples)
{
    static const int numbers[] = {5, 300, 1, 256, 257};
    struct loop loop = {.ns = rotating};
    for (size_t v = 0; v < COUNT(numbers); v++) {
        const struct bc_plan plan = fixed_plan(numbers[v]);
        assert_int_equal(take_plan(&loop, BC_QUANTITIES_MAX, &plan), on_root(true));
        assert_int_equal(loop.rounds, numbers[v]);
    }
    assert_int_equal(store.samples.visits, on_root(COUNT(numbers)));
    for (size_t v = 0; v < store.samples.visits; v++) {
        const struct bc_samples one = bc_samples_of_visit(&store.samples, v);
        assert_int_equal(one.count, numbers[v]);
        for (int i = 0; i < numbers[v]; i++) {
            for (int q = 0; q < BC_QUANTITIES_MAX; q++)
                assert_near(one.values[q][i], 1000.0 * i + ranks - 1 + q, 0.0);
            assert_int_equal(one.slowest_rank[i], (2 * ranks - 1 - i % ranks) % ranks);
        }
    }
}

/* Of ranks that come out of an untimed repetition, the rank that is slowest in general counts;
   else the slowest rank of each round. */
TEST(ranks_that_start_apart)
{
    for (int i = 0; i < 8; i++) {
        const bool apart = i & 1;
        const struct bc_quantities quantities = {.count = 2,
                                                 .slowest_of = (i & 2) / 2,
                                                 .lead_in =
                                                     apart ? BC_LEAD_IN_ALWAYS : BC_LEAD_IN_NEVER};
        struct loop loop = {.ns = slow_or_waiting};
        run.settings.samples = (i & 4) > 0 ? 300 : 7;
        run.settings.warmup = 0;
        take_row(&loop, &quantities, INFINITY);
        assert_int_equal(store.samples.count, on_root(run.settings.samples));
        for (size_t s = 0; s < store.samples.count; s++)
            for (int q = 0; q < 2; q++)
                assert_near(store.samples.values[q][s], apart || s % 5 < 4 ? 12.0 : 30.0, 0.0);
        if (rank == 0)
            assert_int_equal(bc_samples_slowest_rank(&store.samples, ranks),
                             quantities.slowest_of == 0 ? ranks - 1 : 0);
    }
}

/* ---- ranks that start in a window ------------------------------------------------------------ */

/* From the first start to the last end, from which each rank subtracts its own clock's cost: a rank
   with an expensive clock only seems to end last. All are divided by the repetitions, except
   the lateness of a start. */
TEST(last_rank_subtracts_its_own_clock)
{
    static const struct bc_quantities quantities = {.count = 1,
                                                    .clock_readings = 2.0,
                                                    .batching = BC_BATCHES,
                                                    .repetitions = 4,
                                                    .no_tail = true};
    run.window = window;
    run.settings.samples = 30;
    for (int is_last = 0; is_last <= 1; is_last++) {
        struct loop loop = {.ns = steady, .repetition_ns = 1e5, .late_every = 3};
        const int last = is_last ? ranks - 1 : ranks - 2;
        run.own_clock.read_ns = (rank == ranks - 1) == is_last ? 50.0 : 7000.0;
        take_row(&loop, &quantities, INFINITY);
        for (size_t i = 0; i < store.samples.count; i++)
            assert_near(store.samples.values[0][i], 1e5 + (1000.0 * last - 2.0 * 50.0) / 4.0, 1e-6);
        assert_int_equal(bc_samples_slowest_rank(&store.samples, ranks), rank == 0 ? last : -1);
    }
}

/* Rounds for which the last rank was late are dropped and taken again, as long as there are
   retakes, and used if the time ends with too few others. */
TEST(missed_rounds_are_taken_again)
{
    static const struct {
        int late_every;
        int64_t rounds, retakes;
        double seconds;
        int64_t missed, used; /* -1: all that were missed */
    } cases[] = {{3, 300, 1000, INFINITY, 149, 0},
                 {1, 20, 7, INFINITY, 27, 20},
                 {1, 1000, INT64_MAX, 0.3, -1, -1},
                 {2, 1000, INT64_MAX, 0.3, -1, 0}};
    struct bc_window_counts *const counts = bc_start_window_counts(window);
    run.window = window;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct loop loop = {
            .ns = steady, .repetition_ns = 1e5, .late_every = cases[i].late_every, .round_s = 0.01};
        struct bc_plan plan = fixed_plan(cases[i].rounds);
        plan.retakes = cases[i].retakes;
        plan.grace_rounds = 3;
        plan.deadline_s = bc_elapsed_s() + cases[i].seconds;
        empty_store();
        *counts = (struct bc_window_counts){0};
        assert_int_equal(take_plan(&loop, 1, &plan), on_root(isinf(cases[i].seconds)));
        int64_t late = 0;
        for (size_t s = 0; s < store.samples.count; s++)
            late += store.samples.values[0][s] > LATE_NS;
        const int64_t missed = counts->missed, used = cases[i].used >= 0 ? cases[i].used : missed;
        assert_int_equal(missed, on_root(cases[i].missed >= 0 ? cases[i].missed : missed));
        assert_int_equal(late, on_root(used));
        assert_int_equal(counts->used, late);
        assert_int_equal(counts->rounds, on_root(loop.rounds));
        assert_int_equal(store.samples.count, on_root(loop.rounds - missed + late));
        assert_true(rank != 0 || (missed > 0 && store.samples.count >= 3));
    }
}

/* The missed rounds of a visit are not used in the next one. */
TEST(misses_stay_in_their_visit)
{
    struct loop late = {.ns = steady, .late_every = 3}, on_time = {.ns = steady};
    struct bc_plan plan = fixed_plan(30);
    run.window = window;
    plan.retakes = 1000;
    plan.grace_rounds = 3;
    take_plan(&late, 1, &plan);
    plan.deadline_s = bc_elapsed_s() - 1.0;
    take_plan(&on_time, 1, &plan);
    assert_int_equal(store.samples.count, on_root(31));
}

/* A plan that adds keeps the samples and the missed rounds of the visit; without time it takes
   none. */
TEST(plans_add)
{
    static const struct {
        int late_every;
        int64_t rounds, grace_rounds;
        bool has_time;
        int taken;
        int64_t samples;
    } cases[] = {{1, 5, 0, false, 1, 0}, {1, 5, 1, false, 0, 1}, {0, 5, 0, true, 4, 5},
                 {0, 5, 0, true, 0, 5},  {1, 7, 0, false, 0, 5}, {1, 7, 6, false, 1, 6},
                 {1, 8, 6, false, 0, 6}, {0, 9, 8, false, 2, 8}};
    if (rank == 0)
        bc_samples_begin_visit(&store.samples);
    run.window = window;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct loop loop = {.ns = steady, .late_every = cases[i].late_every};
        struct bc_plan plan = fixed_plan(cases[i].rounds);
        plan.adds = true;
        plan.retakes = 1000;
        plan.grace_rounds = cases[i].grace_rounds;
        plan.grace_s = 10.0;
        plan.deadline_s = cases[i].has_time ? INFINITY : bc_elapsed_s() - 1.0;
        take_plan(&loop, 1, &plan);
        assert_int_equal(loop.rounds, cases[i].taken);
        assert_int_equal(store.samples.count, on_root(cases[i].samples));
        assert_int_equal(store.samples.visits, on_root(1));
    }
}

/* ---- the number and the time of rounds ------------------------------------------------------- */

/* The values that a program names must be precise, else quantity 0: in a visit and over all. They
   are looked at after 30, 38, 48 and 60 rounds. A second visit takes the same number, up to the
   rest of the max samples. */
TEST(precise_values_end_a_row)
{
    static const struct bc_precise_value second = {.quantity = 1, .subtrahend = -1};
    run.settings.max_samples = 300;
    run.settings.warmup = 0;
    for (int named = 0; named <= 1; named++) {
        const struct bc_quantities quantities = {
            .count = 2, .precise = &second, .precise_count = named};
        struct loop loop = {.ns = noisy, .repetition_ns = 1e6};
        take_row(&loop, &quantities, INFINITY);
        assert_int_equal(loop.rounds, named ? 60 : 300);
        for (run.visits = 2; run.visits > 0; run.visits--)
            assert_int_equal(is_precise(&quantities), on_root(named));
        run.visits = 1;
        take(&loop, bc_rounds_of(&run, &quantities, INFINITY, &store));
        assert_int_equal(loop.rounds, named ? 60 : 0);
    }
}

/* Rounds begin before the deadline, and after it up to the number that has grace. */
TEST(deadline_is_obeyed)
{
    static const struct {
        double round_s, seconds;
        int64_t warmup, grace_rounds;
        double grace_s; /* after the deadline */
        int min, max;   /* rounds */
    } cases[] = {{1e-7, 0.01, 0, 0, 0.0, 1000, 100000}, {0.001, 0.2, 0, 0, 0.0, 195, 201},
                 {0.02, 0.2, 0, 0, 0.0, 10, 11},        {0.001, 0.1, 600, 0, 0.0, 100, 102},
                 {0.01, -1.0, 0, 0, 1.0, 1, 1},         {0.01, -1.0, 0, 1, 11.0, 1, 1},
                 {0.01, -1.0, 0, 6, 11.0, 6, 6},        {0.01, -1.0, 0, 50, 1.055, 5, 5},
                 {0.01, -1.0, 0, 6, 0.0, 1, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct loop loop = {.ns = steady, .round_s = cases[i].round_s};
        const struct bc_plan plan = {.min_rounds = 30,
                                     .max_rounds = INT64_C(1) << 40,
                                     .deadline_s = bc_elapsed_s() + cases[i].seconds,
                                     .grace_rounds = cases[i].grace_rounds,
                                     .grace_s = cases[i].grace_s,
                                     .warmup_rounds = cases[i].warmup};
        assert_false(take_plan(&loop, 1, &plan));
        assert_in_range(loop.rounds, cases[i].min, cases[i].max);
        assert_true(rank != 0 || bc_samples_in_visit(&store.samples) >= 1);
    }
}

/* For a number of rounds; until the median settles, for a share of the time or of many rounds; in
   later visits for five rounds, or for one if that takes long against the time. */
TEST(warmup_is_not_counted)
{
    enum { SAMPLES = 20 };
    static const struct {
        int64_t warmup_rounds;
        double settled_ns, round_s, seconds;
        bool was_warm;
        int min, max; /* rounds of the warm-up */
    } cases[] = {{10, 0.0, 0.0, INFINITY, false, 10, 10}, {0, 0.0, 0.0, INFINITY, true, 0, 0},
                 {-1, 5e7, 0.0, INFINITY, false, 29, 45}, {-1, 2e9, 0.0, INFINITY, false, 2, 12},
                 {-1, 0.0, 0.0, INFINITY, false, 96, 96}, {-1, 0.0, 0.005, 0.3, false, 6, 11},
                 {-1, 0.0, 0.0, INFINITY, true, 5, 5},    {-1, 0.0, 0.01, 0.5, true, 1, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct loop loop = {
            .ns = falling, .repetition_ns = cases[i].settled_ns, .round_s = cases[i].round_s};
        struct bc_plan plan = fixed_plan(SAMPLES);
        plan.warmup_rounds = cases[i].warmup_rounds;
        plan.was_warm = cases[i].was_warm;
        plan.deadline_s = bc_elapsed_s() + cases[i].seconds;
        empty_store();
        take_plan(&loop, 2, &plan);
        assert_in_range(loop.rounds, SAMPLES + cases[i].min, SAMPLES + cases[i].max);
        assert_int_equal(store.samples.count, on_root(SAMPLES));
        loop.rounds -= SAMPLES;
        for (size_t s = 0; s < store.samples.count; s++, loop.rounds++)
            assert_near(store.samples.values[1][s], falling(&loop, 1), 0.0);
    }
}

/* ---- batches of repetitions ------------------------------------------------------------------ */

/* Long against 20 us and against the clock, of the slowest rank. A disturbed round, whichever it
   is, changes nothing. */
TEST(batches_are_long_enough)
{
    static const struct {
        struct bc_quantities quantities; /* doubled if they have a max */
        bool oversubscribed;
        double read_ns, repetition_ns;
        int64_t expected;
    } cases[] = {{{.max = 0}, false, 20.0, 1000.0, 20},
                 {{.max = 0}, true, 20.0, 1000.0, 20},
                 {{.max = 0}, false, 1000.0, 1000.0, 100},
                 {{.max = 0}, true, 1000.0, 1000.0, 100},
                 {{.batch_ns = 3e4}, false, 20.0, 1000.0, 30},
                 {{.max = 0}, false, 20.0, 0.0, 10000},
                 {{.max = 65536}, false, 20.0, 100.0, 256},
                 {{.max = 65536}, true, 20.0, 20000.0, 1},
                 {{.max = 65536}, false, 1000.0, 100.0, 1024},
                 {{.max = 65536, .step = 3}, false, 20.0, 100.0, 384},
                 {{.max = 65536}, false, 20.0, 0.0, 65536},
                 {{.max = 100}, false, 20.0, 10.0, 100},
                 {{.max = 5, .step = 7}, false, 20.0, 1.0, 5}};
    run.settings.samples = 1;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int disturbed = 0; disturbed < 10; disturbed++) {
            const bool doubles = cases[i].quantities.max > 0;
            struct bc_quantities quantities = cases[i].quantities;
            struct loop loop = {.ns = steady,
                                .repetition_ns =
                                    cases[i].repetition_ns / (rank < ranks - 1 ? 2 : 1),
                                .disturbed = disturbed};
            run.job.oversubscribed = cases[i].oversubscribed;
            run.window = cases[i].oversubscribed ? NULL : window;
            run.max_clock.read_ns = cases[i].read_ns;
            quantities.count = 2;
            quantities.batching = doubles ? BC_DOUBLED_BATCHES : BC_BATCHES;
            take_row(&loop, &quantities, INFINITY);
            assert_int_equal(store.repetitions, cases[i].expected);
            assert_int_equal(loop.searches > 0,
                             doubles ? quantities.step < quantities.max : !cases[i].oversubscribed);
            assert_int_equal(loop.searches_in_window,
                             doubles && run.window != NULL ? loop.searches : 0);
        }
}

/* The repetitions before a round, and rounds of single repetitions, or of one step, for the tail.
 */
TEST(lead_ins_and_tails)
{
    static const struct {
        struct bc_quantities quantities;
        int rounds, lead_ins, singles;
    } cases[] = {
        {{.repetitions = 20}, 6, 6, 3},
        {{.repetitions = 1}, 3, 0, 3},
        {{.repetitions = 20, .lead_in = BC_LEAD_IN_NEVER}, 6, 0, 3},
        {{.repetitions = 1, .lead_in = BC_LEAD_IN_ALWAYS}, 3, 3, 3},
        {{.repetitions = 20, .no_tail = true}, 3, 3, 0},
        {{.repetitions = 20, .step = 4}, 6, 6, 3},
        {{.repetitions = 4, .step = 4}, 3, 0, 3},
    };
    run.settings.samples = 3;
    run.settings.warmup = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_quantities quantities = cases[i].quantities;
        struct loop loop = {.ns = steady, .single = quantities.step > 0 ? quantities.step : 1};
        quantities.count = 1;
        quantities.batching = BC_BATCHES;
        take_row(&loop, &quantities, INFINITY);
        assert_int_equal(loop.rounds, cases[i].rounds);
        assert_int_equal(loop.lead_ins, cases[i].lead_ins);
        assert_int_equal(loop.singles, cases[i].singles);
    }
}

static const struct bc_quantities in_batches = {.count = 1, .batching = BC_BATCHES};

/* The sample of a long repetition is the round of the search. A short one has a batch, even without
   time for warm-up, and a single repetition. Some time allows for
   10 samples, of which the search takes two, and the warm-up one. */
TEST(oversubscribed_jobs_keep_to_the_time)
{
    static const struct {
        double repetition_ns, seconds;
        int samples, min_rounds, max_rounds, repetitions, min_count, max_count;
        bool precise;
    } cases[] = {{1e7, 0.0, 0, 1, 1, 1, 1, 1, false},
                 {1e3, 0.0, 0, 3, 3, 20, 1, 1, false},
                 {5e7, 0.5, 0, 9, 11, 1, 7, 8, false},
                 {1e6, 0.0, 1, 1, 1, 1, 1, 1, true},
                 {1e6, INFINITY, 3, 5, 20, 1, 3, 3, true}};
    run.job.oversubscribed = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct loop loop = {.ns = steady, .repetition_ns = cases[i].repetition_ns, .lasts = true};
        run.settings.samples = cases[i].samples;
        const struct bc_summary found = take_row(&loop, &in_batches, cases[i].seconds);
        assert_in_range(loop.rounds, cases[i].min_rounds, cases[i].max_rounds);
        assert_int_equal(store.repetitions, cases[i].repetitions);
        assert_in_range(found.count, on_root(cases[i].min_count), on_root(cases[i].max_count));
        assert_near(found.value, rank == 0 ? cases[i].repetition_ns : 0.0, 0.0);
        assert_int_equal(is_precise(&in_batches), on_root(cases[i].precise));
        assert_int_equal(on_root(store.in_time), on_root(cases[i].precise));
    }
}

/* Of 1 us, where one in 50 takes 10 us: that is the 99th percentile, not a batch's mean. Single
   repetitions aren't among the samples that were asked for. */
TEST(late_repetitions_are_the_tail)
{
    static const struct bc_quantities two = {.count = 2, .batching = BC_BATCHES};
    const double late_ns = 1000.0 * LATE_TIMES;
    struct loop loop = {.ns = seldom_late, .repetition_ns = 1e3, .lasts = true};
    const struct bc_summary adaptive = take_row(&loop, &two, 5.0);
    const struct bc_summary excess =
        rank == 0 ? bc_store_summary(&run, &store, 1) : (struct bc_summary){.count = 0};
    const size_t singles = store.singles.count;
    run.settings.samples = 7;
    const struct bc_summary fixed = take_row(&loop, &two, INFINITY);
    if (rank != 0)
        return;
    assert_near(adaptive.p99, late_ns, 0.0);
    assert_near(adaptive.max, late_ns, 0.0);
    assert_in_range((uintmax_t)adaptive.value, 1000, 2000);
    assert_near(excess.value, adaptive.value - 1000.0, 0.1);
    assert_near(excess.max, late_ns - 1000.0, 0.0);
    assert_int_equal(singles, 1001);
    assert_int_equal(fixed.count, 7);
    assert_true(fixed.max == 1000.0 || fixed.max == late_ns);
}

static const struct bc_quantities in_tens = {.count = 1, .batching = BC_BATCHES, .repetitions = 10};

/* Single repetitions take a tenth of the row's time, and none after its end. The search for the
   batch length, here with a disturbance of a second, takes the row's time. */
TEST(rows_keep_to_the_time)
{
    static const struct bc_quantities searched = {
        .count = 1, .batching = BC_DOUBLED_BATCHES, .batch_ns = 1e7, .max = 1000};
    run.settings.precision_pct = 0.001;
    for (int searches = 0; searches <= 1; searches++) {
        struct loop loop = {
            .ns = noisy, .repetition_ns = 1e6, .disturbed = searches, .lasts = true, .single = 1};
        take_row(&loop, searches ? &searched : &in_tens, 2.0);
        const double share = loop.singles_s / loop.took_s;
        assert_false(is_precise(&in_tens));
        assert_true(loop.took_s > 2.0 * 0.98 && loop.took_s < 2.0 * 1.02);
        assert_true(searches || (share > 0.08 && share < 0.12));
    }
}

/* Ranks don't wait for a rank that takes no part, here for a second in each round, except in a
   window. Its start and end don't count. */
TEST(ranks_without_a_part)
{
    const bool idle = rank == ranks - 1;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, idle ? MPI_UNDEFINED : 0, rank, &comm);
    run.settings.samples = 10;
    for (int in_window = 0; in_window <= 1; in_window++) {
        struct loop loop = {
            .ns = steady, .repetition_ns = 1e3, .lasts = true, .round_s = idle, .comm = &comm};
        run.window = in_window ? window : NULL;
        const struct bc_summary found = take_row(&loop, &in_tens, INFINITY);
        const double last_start_ns = in_window ? 1000.0 * (ranks - 2) : 0.0;
        assert_near(found.value, rank == 0 ? 1e3 + last_start_ns / 10.0 : 0.0, 1e-6);
        assert_in_range(bc_samples_slowest_rank(&store.samples, ranks) + (rank != 0), 0, ranks - 2);
        assert_true(idle || in_window || loop.took_s < 0.9 * loop.rounds);
    }
    if (!idle)
        MPI_Comm_free(&comm);
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* The samples are divided among the visits, with the same number of single repetitions, none before
   the end of the warm-up; the length of batches is that of the first visit. The row is precise
   after the last visit, and not before. */
TEST(visits_share_the_samples)
{
    static const int in_all[] = {2, 4, 7};
    run.settings.samples = 7;
    run.settings.warmup = 2;
    run.visits = 3;
    for (run.visit = 0; run.visit < 3; run.visit++) {
        struct loop loop = {.ns = steady, .repetition_ns = run.visit == 0 ? 1e3 : 1e4, .single = 1};
        take(&loop, bc_rounds_of(&run, &in_batches, INFINITY, &store));
        assert_int_equal(store.repetitions, 20);
        assert_int_equal(store.samples.count, on_root(in_all[run.visit]));
        assert_int_equal(store.singles.count, on_root(in_all[run.visit]));
        assert_int_equal(store.samples.visits, on_root(run.visit + 1));
        assert_int_equal(on_root((int64_t)store.singles.visits), on_root(run.visit + 1));
        assert_true(run.visit == 0 || loop.before_singles > 2);
        assert_int_equal(is_precise(&in_batches), on_root(run.visit == 2));
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static struct bc_job job;

static void set_up(void)
{
    const struct bc_clock_cost cost = {.resolution_ns = LATE_NS / 4.0};
    bc_job_describe(&job);
    window = bc_start_window_create(&job, &cost, 0.01);
}

static void tear_down(void)
{
    empty_store();
    bc_start_window_destroy(window);
    bc_job_free(&job);
}

static int create_run(void **state)
{
    empty_store();
    run = (struct bc_run){
        .job = {.rank = rank, .ranks = ranks}, .settings = bc_default_settings, .visits = 1};
    return 0;
}

const struct test_program test_program = {
    .mpi = true, .set_up = set_up, .tear_down = tear_down, .before_each = create_run};
