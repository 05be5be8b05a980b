/*
 * Sampling across ranks. For 2 ranks or more.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/stats/sampling.h"

#include <mpi.h>
#include <stdbool.h>

static struct bc_sampler *sampler;
static struct bc_samples store; /* what was taken; on rank 0 */

static int slowest_rank(void) { return bc_samples_slowest_rank(&store, ranks); }

/* ---- a source whose values and durations are known ------------------------------------------- */

struct script {
    double (*value)(int round, int quantity); /* on this rank */
    double round_s; /* how long each of the first `sleeps` rounds takes; the others take no time */
    int sleeps;
    int quantities;
    int rounds;         /* taken so far */
    double clock_ns;    /* what reading the clock adds to a value on this rank */
    int between;        /* calls of note_between */
    int rounds_between; /* taken before the last one */
};

static void note_between(void *between_context)
{
    struct script *const script = between_context;
    script->between++;
    script->rounds_between = script->rounds;
}

static void take(void *context, double *values)
{
    struct script *const script = context;
    for (int q = 0; q < script->quantities; q++)
        values[q] = script->value(script->rounds, q);
    if (script->rounds < script->sleeps)
        sleep_s(script->round_s);
    script->rounds++;
}

/* Appends a visit to the samples. */
static enum bc_end visit(struct script *script, const struct bc_plan *plan, int slowest_of)
{
    script->rounds = 0;
    const struct bc_source source = {
        .quantities = script->quantities,
        .take = take,
        .context = script,
        .slowest_of = slowest_of,
        .clock_ns = script->clock_ns,
        .between = note_between,
        .between_context = script,
    };
    return bc_sampler_run(sampler, &source, plan, &store);
}

static enum bc_end run(struct script *script, const struct bc_plan *plan, int slowest_of)
{
    bc_samples_free(&store);
    return visit(script, plan, slowest_of);
}

static struct bc_plan fixed_plan(int64_t rounds)
{
    return (struct bc_plan){.min_rounds = rounds, .max_rounds = rounds, .deadline_s = INFINITY};
}

/* A different rank is slowest in each round; its value is 1000 times the round's number plus the
   highest rank. */
static double rotating(int round, int quantity)
{
    return 1000.0 * round + (rank + round) % ranks + 0.25 * quantity;
}

static double constant(int round, int quantity) { return 5.0 + quantity; }

/* Quantity 0 is slow on the last rank in two rounds of three and on the first rank in the third
   round; quantity 1 the other way round. */
static double mostly_last(int round, int quantity)
{
    const bool last = (round % 3 != 0) != (quantity == 1);
    return rank == (last ? ranks - 1 : 0) ? 10.0 : 1.0;
}

/* ---- samples --------------------------------------------------------------------------------- */

TEST(slowest_value_is_the_sample)
{
    struct script script = {.value = rotating, .quantities = 3};
    const struct bc_plan plan = fixed_plan(600);
    run(&script, &plan, 0);
    if (rank != 0) {
        assert_int_equal(store.count, 0);
        return;
    }
    assert_int_equal(store.count, 600);
    for (int i = 0; i < 600; i++)
        for (int q = 0; q < 3; q++)
            assert_near(store.values[q][i], 1000.0 * i + ranks - 1 + 0.25 * q, 0.0);
}

TEST(slowest_rank_is_named)
{
    static const struct {
        int rounds, slowest_of;
        bool last; /* it is the last rank; else, also where ranks are equal, the first one */
    } cases[] = {{300, 0, true}, {300, 1, false}, {3, 0, true}, {2, 0, false}};
    int slowest[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct script script = {.value = mostly_last, .quantities = 2};
        const struct bc_plan plan = fixed_plan(cases[i].rounds);
        run(&script, &plan, cases[i].slowest_of);
        slowest[i] = slowest_rank();
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(slowest[i], rank != 0 ? -1 : cases[i].last ? ranks - 1 : 0);
}

/* Rank 0 takes longest, 1000 ns, and has a clock that costs 10 ns. The others' clocks cost 300 ns,
   which makes neither them slower than they are nor rank 0 quicker. */
static double slow_clocks(int round, int quantity)
{
    return (rank == 0 ? 1010.0 : 900.0 + 300.0) + quantity;
}

TEST(own_clock_comes_off)
{
    struct script script = {
        .value = slow_clocks, .quantities = 2, .clock_ns = rank == 0 ? 10.0 : 300.0};
    const struct bc_plan plan = fixed_plan(300);
    run(&script, &plan, 1);
    const int slowest = slowest_rank();
    for (size_t i = 0; i < store.count; i++)
        for (int q = 0; q < 2; q++)
            assert_near(store.values[q][i], 1000.0 + q, 0.0);
    assert_int_equal(store.count, rank == 0 ? 300 : 0);
    assert_int_equal(slowest, rank == 0 ? 0 : -1);
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* Each run appends a visit on rank 0; other ranks' stores stay as they are. */
TEST(runs_append_visits)
{
    static const int numbers[] = {5, 300, 1};
    struct script script = {.value = rotating, .quantities = 2};
    bc_samples_free(&store);
    for (size_t v = 0; v < COUNT(numbers); v++) {
        const struct bc_plan plan = fixed_plan(numbers[v]);
        visit(&script, &plan, 0);
    }
    assert_int_equal(store.visits, rank == 0 ? COUNT(numbers) : 0);
    assert_int_equal(store.count, rank == 0 ? 5 + 300 + 1 : 0);
    for (size_t v = 0; v < store.visits; v++) {
        const struct bc_samples one = bc_samples_of_visit(&store, v);
        assert_int_equal(one.count, numbers[v]);
        for (int i = 0; i < numbers[v]; i++) {
            assert_near(one.values[0][i], 1000.0 * i + ranks - 1, 0.0);
            assert_near(one.values[1][i], 1000.0 * i + ranks - 1 + 0.25, 0.0);
            assert_int_equal(one.slowest_rank[i], (2 * ranks - 1 - i % ranks) % ranks);
        }
    }
}

/* ---- ranks that start together --------------------------------------------------------------- */

/* A source whose rank r starts r us after the agreed moment and takes 100 us. In some rounds the
   last rank starts 1 ms late. */
struct late_script {
    struct bc_starts starts;
    int every; /* each `every`-th round is missed; 0: none */
    int64_t repetitions;
    bool one;       /* there is one quantity, not two */
    bool idle;      /* the last rank has no part */
    double round_s; /* how long a round takes */
    int rounds;
    double clock_ns; /* what reading the clock adds to a value on this rank */
};

static void take_late(void *context, double *values)
{
    struct late_script *const script = context;
    const bool late =
        script->every > 0 && rank == ranks - 1 && ++script->rounds % script->every == 0;
    const double repetitions = (double)script->repetitions;
    script->starts.start_ns[0] = late ? 1e6 : 1000.0 * rank;
    values[0] = 100000.0 / repetitions;
    if (!script->one) {
        script->starts.start_ns[1] = 0.0;
        values[1] = 1000.0 * rank / repetitions;
    }
    if (script->idle && rank == ranks - 1)
        values[0] = values[1] = -INFINITY;
    if (script->round_s > 0.0)
        sleep_s(script->round_s);
}

/* Appends a visit to the samples, or to their last visit if the plan adds to it. */
static enum bc_end visit_late(struct late_script *script, const struct bc_plan *plan)
{
    script->starts.late_ns = 1e5;
    if (script->repetitions == 0)
        script->repetitions = 1;
    const struct bc_source source = {
        .quantities = script->one ? 1 : 2,
        .take = take_late,
        .context = script,
        .starts = &script->starts,
        .repetitions = script->repetitions,
        .clock_ns = script->clock_ns,
    };
    return bc_sampler_run(sampler, &source, plan, &store);
}

static enum bc_end run_late(struct late_script *script, const struct bc_plan *plan)
{
    bc_samples_free(&store);
    return visit_late(script, plan);
}

/* How many samples of quantity 0 are `ns`. */
static int samples_of(double ns)
{
    int count = 0;
    for (size_t i = 0; i < store.count; i++)
        count += fabs(store.values[0][i] - ns) < 1e-6;
    return count;
}

TEST(sample_is_first_start_to_last_end)
{
    struct late_script script = {0}, tenth = {.repetitions = 10}, idle = {.idle = true};
    const struct bc_plan plan = fixed_plan(300);
    run_late(&script, &plan);
    const int right = samples_of(100000.0 + 1000.0 * (ranks - 1));
    const int slowest = slowest_rank();
    run_late(&tenth, &plan);
    const int right_tenth = samples_of(10000.0 + 100.0 * (ranks - 1));
    run_late(&idle, &plan);
    const int right_idle = samples_of(100000.0 + 1000.0 * (ranks - 2));
    if (rank != 0)
        return;
    assert_int_equal(right, 300);
    assert_int_equal(slowest, ranks - 1);
    assert_int_equal(right_tenth, 300);
    assert_int_equal(right_idle, 300);
    assert_int_equal(script.starts.rounds, 300);
    assert_int_equal(script.starts.missed, 0);
}

/* The clock's cost comes off each rank's end before the last one is chosen: a rank with an
   expensive clock only seems to end last. */
TEST(last_rank_takes_its_own_clock_off)
{
    const bool last = rank == ranks - 1;
    struct late_script first = {.clock_ns = last ? 50.0 : 7000.0};
    struct late_script slow = {.clock_ns = last ? 7000.0 : 50.0};
    const struct bc_plan plan = fixed_plan(300);
    run_late(&first, &plan);
    const int of_last = samples_of(100000.0 + 1000.0 * (ranks - 1) - 50.0);
    run_late(&slow, &plan);
    const int of_last_but_one = samples_of(100000.0 + 1000.0 * (ranks - 2) - 50.0);
    const int slowest = slowest_rank();
    if (rank != 0)
        return;
    assert_int_equal(of_last, 300);
    assert_int_equal(of_last_but_one, 300);
    assert_int_equal(slowest, ranks - 2);
}

static struct bc_plan missing_plan(int64_t rounds, int64_t retakes)
{
    struct bc_plan plan = fixed_plan(rounds);
    plan.retakes = retakes;
    return plan;
}

/* With one quantity, then with two. */
TEST(missed_rounds_are_taken_again)
{
    const struct bc_plan plan = missing_plan(300, 1000);
    for (int quantities = 1; quantities <= 2; quantities++) {
        struct late_script script = {.every = 3, .one = quantities == 1};
        const enum bc_end end = run_late(&script, &plan);
        const int right = samples_of(100000.0 + 1000.0 * (ranks - 1));
        const int slowest = slowest_rank();
        if (rank != 0)
            continue;
        assert_int_equal(end, BC_END_SETTLED);
        assert_int_equal(right, 300);
        assert_int_equal(store.count, 300);
        assert_in_range(script.starts.missed, 100, 200);
        assert_int_equal(script.starts.rounds, 300 + script.starts.missed);
        assert_int_equal(script.starts.used, 0);
        assert_int_equal(slowest, ranks - 1);
        for (size_t i = 0; i < store.count && quantities == 2; i++)
            assert_near(store.values[1][i], 1000.0 * (ranks - 1), 0.0);
    }
}

/* A run that goes on keeps the samples and the missed rounds of the run before. */
TEST(runs_go_on)
{
    struct late_script late = {.every = 1}, on_time = {0};
    struct bc_plan plan = missing_plan(5, 1000);
    const struct bc_plan anew = fixed_plan(1);
    size_t counts[3];
    plan.adds = true;
    run_late(&on_time, &anew);
    for (int i = 0; i < 2; i++) {
        visit_late(&on_time, &plan);
        counts[i] = store.count;
    }
    run_late(&on_time, &anew);
    plan.max_rounds = plan.min_rounds = 2;
    plan.deadline_s = bc_elapsed_s() - 1.0;
    visit_late(&late, &plan); /* nothing, as there is no time */
    counts[2] = store.count;
    if (rank != 0)
        return;
    assert_int_equal(counts[0], 5);
    assert_int_equal(counts[1], 5);
    assert_int_equal(counts[2], 1);
    assert_int_equal(store.visits, 1);
    assert_int_equal(on_time.starts.rounds, 1 + 4 + 1);
    assert_int_equal(late.starts.rounds, 0);
}

/* By a sampler that has missed no round before. */
TEST(misses_of_runs_that_go_on)
{
    struct late_script late = {.every = 1};
    struct bc_sampler *const usual = sampler;
    struct bc_plan plan = missing_plan(5, 1000);
    int64_t used[2];
    size_t counts[2];
    plan.adds = true;
    plan.deadline_s = bc_elapsed_s() - 1.0;
    plan.grace_s = 10.0;
    sampler = bc_sampler_create(MPI_COMM_WORLD);
    bc_samples_free(&store);
    bc_samples_begin_visit(&store);
    for (int grace = 0; grace <= 1; grace++) {
        plan.grace_rounds = grace;
        visit_late(&late, &plan);
        used[grace] = late.starts.used;
        counts[grace] = store.count;
    }
    bc_sampler_destroy(sampler);
    sampler = usual;
    if (rank != 0)
        return;
    assert_int_equal(late.starts.rounds, 1);
    for (int grace = 0; grace <= 1; grace++) {
        assert_int_equal(used[grace], grace);
        assert_int_equal(counts[grace], grace);
    }
}

/* The missed rounds of a visit are not used in the next one, which has its own number of rounds. */
TEST(misses_stay_in_their_visit)
{
    struct late_script late = {.every = 3}, on_time = {0};
    struct bc_plan plan = missing_plan(30, 1000);
    run_late(&late, &plan);
    plan.deadline_s = bc_elapsed_s() - 1.0;
    plan.grace_rounds = 3;
    const enum bc_end end = visit_late(&on_time, &plan);
    if (rank != 0)
        return;
    assert_true(late.starts.missed > 3);
    assert_int_equal(end, BC_END_TIME);
    assert_int_equal(on_time.starts.used, 0);
    assert_int_equal(store.count, 31);
    assert_int_equal(bc_samples_in_visit(&store), 1);
}

/* No more than `retakes` missed rounds are dropped. */
TEST(retakes_have_an_end)
{
    struct late_script script = {.every = 1};
    const struct bc_plan plan = missing_plan(20, 7);
    run_late(&script, &plan);
    const int late = samples_of(1e6 + 100000.0);
    if (rank != 0)
        return;
    assert_int_equal(late, 20);
    assert_int_equal(script.starts.rounds, 27);
    assert_int_equal(script.starts.used, 20);
}

/* When the time is up missed rounds are used only if there are too few others. */
TEST(no_round_is_lost_when_time_is_up)
{
    for (int every = 1; every <= 2; every++) {
        struct late_script script = {.every = every, .round_s = 0.01};
        struct bc_plan plan = fixed_plan(1000);
        plan.retakes = INT64_MAX;
        plan.grace_rounds = 3;
        plan.deadline_s = bc_elapsed_s() + 0.3;
        const enum bc_end end = run_late(&script, &plan);
        const int late = samples_of(1e6 + 100000.0);
        if (rank != 0)
            continue;
        assert_int_equal(end, BC_END_TIME);
        assert_true(store.count >= 3);
        assert_int_equal(script.starts.used, late);
        assert_int_equal(late, every == 1 ? script.starts.missed : 0);
        assert_true(script.starts.missed > 0);
    }
}

/* ---- how many -------------------------------------------------------------------------------- */

TEST(fixed_number_is_exact)
{
    static const int numbers[] = {1, 2, 7, 255, 256, 257, 1000, 5000};
    int taken[COUNT(numbers)];
    size_t kept[COUNT(numbers)];
    enum bc_end ends[COUNT(numbers)];
    for (size_t i = 0; i < COUNT(numbers); i++) {
        struct script script = {.value = rotating, .quantities = BC_QUANTITIES_MAX};
        const struct bc_plan plan = fixed_plan(numbers[i]);
        ends[i] = run(&script, &plan, 0);
        taken[i] = script.rounds;
        kept[i] = store.count;
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        assert_int_equal(taken[i], numbers[i]);
        assert_int_equal(kept[i], rank == 0 ? numbers[i] : 0);
        assert_int_equal(ends[i], BC_END_SETTLED);
    }
}

struct looks {
    size_t counts[64];
    int number;
    int stop_at; /* the look that ends the run; 0: none does */
};

static bool look(const struct bc_samples *samples, void *context)
{
    struct looks *const looks = context;
    if (looks->number < 64)
        looks->counts[looks->number] = samples->count;
    looks->number++;
    return looks->number == looks->stop_at;
}

static struct bc_plan adaptive_plan(int64_t min, int64_t max, struct looks *looks)
{
    return (struct bc_plan){.min_rounds = min,
                            .max_rounds = max,
                            .deadline_s = INFINITY,
                            .settled = look,
                            .context = looks};
}

TEST(settled_is_asked_at_growing_counts)
{
    struct looks looks = {.stop_at = 0};
    struct script script = {.value = rotating, .quantities = 1};
    const struct bc_plan plan = adaptive_plan(30, 2000, &looks);
    const enum bc_end end = run(&script, &plan, 0);
    assert_int_equal(end, BC_END_MAX);
    assert_int_equal(script.rounds, 2000);
    assert_int_equal(store.count, rank == 0 ? 2000 : 0);
    if (rank != 0) {
        assert_int_equal(looks.number, 0);
        return;
    }
    /* log(2000 / 30) / log(1.25) = 18.8 */
    assert_in_range(looks.number, 15, 20);
    assert_int_equal(looks.counts[0], 30);
    for (int i = 1; i < looks.number; i++) {
        assert_true(4 * looks.counts[i] >= 5 * looks.counts[i - 1]);
        assert_true(looks.counts[i] <= looks.counts[i - 1] * 5 / 4 + 1);
    }
}

/* `settled` ends the run, and is asked about the visit in hand, as if it were the first one. */
TEST(settled_is_asked_in_each_visit)
{
    struct script script = {.value = rotating, .quantities = 1};
    struct looks looks[3];
    enum bc_end ends[COUNT(looks)];
    int rounds[COUNT(looks)];
    bc_samples_free(&store);
    for (size_t v = 0; v < COUNT(looks); v++) {
        looks[v] = (struct looks){.stop_at = 3};
        const struct bc_plan plan = adaptive_plan(10, 100000, &looks[v]);
        ends[v] = visit(&script, &plan, 0);
        rounds[v] = script.rounds;
    }
    for (size_t v = 0; v < COUNT(looks); v++) {
        assert_int_equal(ends[v], BC_END_SETTLED);
        assert_int_equal(rounds[v], 17); /* 10, 13, 17 */
        assert_int_equal(looks[v].number, rank == 0 ? 3 : 0);
        assert_int_equal(looks[v].counts[0], rank == 0 ? 10 : 0);
        assert_int_equal(looks[v].counts[2], rank == 0 ? 17 : 0);
    }
    assert_int_equal(store.count, rank == 0 ? 3 * 17 : 0);
}

TEST(rank_0_has_the_plan)
{
    struct looks looks = {.stop_at = rank == 0 ? 2 : 1};
    struct script script = {.value = rotating, .quantities = 2};
    struct bc_plan plan =
        rank == 0 ? adaptive_plan(40, 1000, &looks) : adaptive_plan(1, 1 + rank, &looks);
    plan.warmup_rounds = rank == 0 ? 3 : -1;
    plan.deadline_s = rank == 0 ? INFINITY : 0.0;
    const enum bc_end end = run(&script, &plan, 0);
    assert_int_equal(end, BC_END_SETTLED);
    assert_int_equal(script.rounds, 3 + 50);
    assert_int_equal(looks.number, rank == 0 ? 2 : 0);
}

/* ---- how long -------------------------------------------------------------------------------- */

TEST(deadline_is_obeyed)
{
    static const double rounds_s[] = {0.0, 0.001, 0.004, 0.02};
    double took_s[COUNT(rounds_s)];
    enum bc_end ends[COUNT(rounds_s)];
    bool same = true;
    int taken[COUNT(rounds_s)];
    for (size_t i = 0; i < COUNT(rounds_s); i++) {
        struct script script = {.value = constant,
                                .quantities = 1,
                                .round_s = rounds_s[i],
                                .sleeps = rounds_s[i] > 0.0 ? 1000000 : 0};
        MPI_Barrier(MPI_COMM_WORLD);
        const double start_s = bc_elapsed_s();
        const struct bc_plan plan = {
            .min_rounds = 30, .max_rounds = INT64_C(1) << 40, .deadline_s = start_s + 0.2};
        ends[i] = run(&script, &plan, 0);
        took_s[i] = bc_elapsed_s() - start_s;
        taken[i] = script.rounds;
        same = same && same_everywhere(ends[i]) && same_everywhere(script.rounds);
    }
    assert_true(same);
    for (size_t i = 0; i < COUNT(rounds_s); i++) {
        assert_int_equal(ends[i], BC_END_TIME);
        assert_true(rank != 0 || took_s[i] >= 0.2);
        /* One more round, and what a busy machine adds to it. */
        assert_true(took_s[i] < 0.2 + rounds_s[i] + 0.1);
        assert_in_range(taken[i], 4, 100000000);
    }
}

static int rounds_after_deadline(int64_t grace_rounds, double grace_s)
{
    struct script script = {.value = constant, .quantities = 1, .round_s = 0.01, .sleeps = 1000};
    const struct bc_plan plan = {.min_rounds = 30,
                                 .max_rounds = 1000,
                                 .deadline_s = bc_elapsed_s() - 1.0,
                                 .grace_rounds = grace_rounds,
                                 .grace_s = 1.0 + grace_s};
    return run(&script, &plan, 0) == BC_END_TIME ? script.rounds : -1;
}

TEST(grace_rounds_are_taken)
{
    static const struct {
        int64_t rounds;
        double seconds;
        int min, max;
    } cases[] = {{0, 0.0, 1, 1},
                 {1, 10.0, 1, 1},
                 {6, 10.0, 6, 6},
                 {50, 0.055, 2, 5}, /* rounds of 10 ms */
                 {6, -1.0, 1, 1}};
    int taken[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++)
        taken[i] = rounds_after_deadline(cases[i].rounds, cases[i].seconds);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_in_range(taken[i], cases[i].min, cases[i].max);
}

/* ---- warming up ------------------------------------------------------------------------------ */

/* 20 rounds that get faster and faster, then a steady state. */
static double warming(int round, int quantity)
{
    return (round < 20 ? 1000.0 * pow(0.9, round) : 100.0) + quantity;
}

static double ever_falling(int round, int quantity) { return 1e9 * pow(0.97, round) + quantity; }

/* `between` is called before the run ends, and not after rounds of the warm-up. */
TEST(warmup_is_not_counted)
{
    struct script script = {.value = rotating, .quantities = 1};
    struct bc_plan plan = fixed_plan(20);
    plan.warmup_rounds = 10;
    run(&script, &plan, 0);
    assert_int_equal(script.rounds, 30);
    assert_int_equal(script.between, 1);
    assert_int_equal(script.rounds_between, 30);
    if (rank != 0)
        return;
    assert_int_equal(store.count, 20);
    for (int i = 0; i < 20; i++)
        assert_near(store.values[0][i], 1000.0 * (10 + i) + ranks - 1, 0.0);
}

TEST(warmup_until_the_median_settles)
{
    static const struct {
        double (*value)(int round, int quantity);
        int min, max; /* rounds of the warm-up */
    } cases[] = {{warming, 20, 40},
                 /* A steady source needs two looks of a few rounds to be known as one. */
                 {constant, 2, 12},
                 /* One that never settles does not warm up for ever. */
                 {ever_falling, 20, 200}};
    int rounds[COUNT(cases)];
    double first = 100.0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct script script = {.value = cases[i].value, .quantities = 2};
        struct bc_plan plan = fixed_plan(20);
        plan.warmup_rounds = -1;
        run(&script, &plan, 0);
        rounds[i] = script.rounds;
        if (rank == 0 && i == 0)
            first = store.values[0][0];
    }
    assert_near(first, 100.0, 0.0);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_in_range(rounds[i], 20 + cases[i].min, 20 + cases[i].max);
}

/* Warm-up must obey the time as well. The later rounds take no time, so that the test ends in any
   case. */
TEST(warmup_obeys_the_deadline)
{
    struct script script = {.value = constant, .quantities = 1, .round_s = 0.001, .sleeps = 400};
    struct bc_plan plan = fixed_plan(10);
    plan.warmup_rounds = 600;
    plan.deadline_s = bc_elapsed_s() + 0.1;
    const enum bc_end end = run(&script, &plan, 0);
    const bool same = same_everywhere(end);
    assert_true(same);
    assert_int_equal(end, BC_END_TIME);
    assert_in_range(script.rounds, 1, 300);
    if (rank == 0)
        assert_in_range(store.count, 1, 10);
}

/* Warm-up that looks for a steady state gets a share of the time, not all of it. */
TEST(automatic_warmup_leaves_time)
{
    struct script script = {
        .value = ever_falling, .quantities = 1, .round_s = 0.005, .sleeps = 1000};
    const struct bc_plan plan = {.min_rounds = 1000,
                                 .max_rounds = 1000,
                                 .deadline_s = bc_elapsed_s() + 0.3,
                                 .warmup_rounds = -1};
    run(&script, &plan, 0);
    if (rank == 0)
        assert_true(store.count * 2 > (size_t)script.rounds);
}

/* A source that ran before warms up for five rounds, or for one where that takes long against the
   time. */
TEST(later_warmup_is_short)
{
    struct script script = {.value = ever_falling, .quantities = 1};
    struct bc_plan plan = fixed_plan(20);
    plan.warmup_rounds = -1;
    plan.was_warm = true;
    run(&script, &plan, 0);
    const int when_short = script.rounds;
    script.round_s = 0.01;
    script.sleeps = 1000;
    plan.deadline_s = bc_elapsed_s() + 0.5;
    run(&script, &plan, 0);
    assert_int_equal(when_short, 20 + 5);
    assert_int_equal(script.rounds, 20 + 1);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void create_sampler(void) { sampler = bc_sampler_create(MPI_COMM_WORLD); }

static void destroy_sampler(void)
{
    bc_samples_free(&store);
    bc_sampler_destroy(sampler);
}

const struct test_program test_program = {
    .mpi = true, .set_up = create_sampler, .tear_down = destroy_sampler};
