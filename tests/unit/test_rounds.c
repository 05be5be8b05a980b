/*
 * Sampling across ranks, of a source whose values are known and whose rounds take virtual time.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/clock/source.h"
#include "common/measure/sampling.h"

static struct bc_samples store; /* what was taken; on rank 0 */

/* ---- a source whose values and durations are known ------------------------------------------- */

#define LATE_NS 1e6
#define TOOK_NS 1e5

struct script {
    double (*value)(int round, int quantity); /* on this rank */
    int quantities, slowest_of;
    double round_s;  /* how long a round takes */
    double clock_ns; /* what reading the clock adds to a value on this rank */
    bool together;   /* ranks start at an agreed moment, rank r 1 us times r late */
    bool apart;      /* ranks start at different times */
    int late_every;  /* in these rounds the last rank starts LATE_NS late; 0: none */
    int rounds;      /* taken so far */
    int between, rounds_before_last; /* calls between batches, and rounds before the last of them */
    struct bc_starts starts;
};

static void note_between(void *context)
{
    struct script *const script = context;
    script->between++;
    script->rounds_before_last = script->rounds;
}

static void take(void *context, double *values)
{
    struct script *const script = context;
    const bool is_late = script->late_every > 0 && (script->rounds + 1) % script->late_every == 0;
    for (int q = 0; q < script->quantities; q++)
        values[q] = script->value(script->rounds, q);
    script->starts.start_ns[0] = is_late && rank == ranks - 1 ? LATE_NS : 1000.0 * rank;
    bc_sleep_ns((int64_t)(1e9 * script->round_s));
    script->rounds++;
}

/* Appends a visit to the samples, or adds to the last one if the plan says so. */
static enum bc_end visit(struct script *script, const struct bc_plan *plan)
{
    script->starts.late_ns = LATE_NS / 2.0;
    const struct bc_source source = {
        .quantities = script->quantities,
        .take = take,
        .context = script,
        .slowest_of = script->slowest_of,
        .starts = script->together ? &script->starts : NULL,
        .starts_apart = script->apart,
        .clock_ns = script->clock_ns,
        .between = note_between,
        .between_context = script,
    };
    return bc_take_rounds(&source, plan, &store);
}

static enum bc_end run(struct script *script, const struct bc_plan *plan)
{
    bc_samples_free(&store);
    script->rounds = script->between = 0;
    return visit(script, plan);
}

static struct bc_plan fixed_plan(int64_t rounds)
{
    return (struct bc_plan){.min_rounds = rounds, .max_rounds = rounds, .deadline_s = INFINITY};
}

/* A different rank is slowest in each round. */
static double rotating(int round, int quantity)
{
    return 1000.0 * round + (rank + round) % ranks + 0.25 * quantity;
}

static double constant(int round, int quantity) { return TOOK_NS + quantity; }

/* Quantity 0 is slow on the last rank in two rounds of three and on the first rank in the third
   round; quantity 1 the other way round. */
static double mostly_last(int round, int quantity)
{
    const bool last = (round % 3 != 0) != (quantity == 1);
    return rank == (last ? ranks - 1 : 0) ? 10.0 : 1.0;
}

/* Quantity 0 is slow on the last rank, and on the first rank even slower in a round of five;
   quantity 1 the other way round. */
static double last_or_waiting(int round, int quantity)
{
    const int slow = quantity == 0 ? ranks - 1 : 0;
    return rank == slow ? 12.0 : round % 5 == 4 ? 30.0 : 10.0;
}

/* 20 rounds that get faster and faster, then a steady state. */
static double warming(int round, int quantity)
{
    return (round < 20 ? 1000.0 * pow(0.9, round) : 100.0) + quantity;
}

static double ever_falling(int round, int quantity) { return 1e9 * pow(0.97, round) + quantity; }

/* ---- samples --------------------------------------------------------------------------------- */

/* Each run appends a visit on rank 0, of the slowest values; other ranks' stores stay empty. */
TEST(slowest_values_are_the_samples)
{
    static const int numbers[] = {5, 300, 1, 256, 257};
    bc_samples_free(&store);
    for (size_t v = 0; v < COUNT(numbers); v++) {
        struct script script = {.value = rotating, .quantities = BC_QUANTITIES_MAX};
        const struct bc_plan plan = fixed_plan(numbers[v]);
        assert_int_equal(visit(&script, &plan), BC_END_SETTLED);
        assert_int_equal(script.rounds, numbers[v]);
    }
    assert_int_equal(store.visits, rank == 0 ? COUNT(numbers) : 0);
    for (size_t v = 0; v < store.visits; v++) {
        const struct bc_samples one = bc_samples_of_visit(&store, v);
        assert_int_equal(one.count, numbers[v]);
        for (int i = 0; i < numbers[v]; i++) {
            for (int q = 0; q < BC_QUANTITIES_MAX; q++)
                assert_near(one.values[q][i], 1000.0 * i + ranks - 1 + 0.25 * q, 0.0);
            assert_int_equal(one.slowest_rank[i], (2 * ranks - 1 - i % ranks) % ranks);
        }
    }
}

/* Of ranks that start apart the one that is slowest in general counts, not the one that waits. */
TEST(ranks_that_start_apart)
{
    static const int numbers[] = {300, 7};
    for (size_t v = 0; v < COUNT(numbers); v++) {
        struct script script = {
            .value = last_or_waiting, .quantities = 2, .slowest_of = 0, .apart = true};
        const struct bc_plan plan = fixed_plan(numbers[v]);
        run(&script, &plan);
        for (size_t i = 0; i < store.count; i++) {
            for (int q = 0; q < script.quantities; q++)
                assert_near(store.values[q][i], 12.0, 0.0);
            assert_int_equal(store.slowest_rank[i], ranks - 1);
        }
    }
}

TEST(slowest_rank_is_named)
{
    static const struct {
        int rounds, slowest_of;
        bool last; /* it is the last rank; else, also where ranks are equal, the first one */
    } cases[] = {{300, 0, true}, {300, 1, false}, {3, 0, true}, {2, 0, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct script script = {
            .value = mostly_last, .quantities = 2, .slowest_of = cases[i].slowest_of};
        const struct bc_plan plan = fixed_plan(cases[i].rounds);
        run(&script, &plan);
        const int slowest = cases[i].last ? ranks - 1 : 0;
        assert_int_equal(bc_samples_slowest_rank(&store, ranks), rank == 0 ? slowest : -1);
    }
}

/* ---- ranks that start together --------------------------------------------------------------- */

/* From the first start to the last end, of which each rank takes its own clock's cost off before
   the last one is found: a rank with an expensive clock only seems to end last. */
TEST(last_rank_takes_its_own_clock_off)
{
    const struct bc_plan plan = fixed_plan(30);
    for (int is_last = 0; is_last <= 1; is_last++) {
        const double own_ns = (rank == ranks - 1) == is_last ? 50.0 : 7000.0;
        struct script script = {
            .value = constant, .quantities = 1, .together = true, .clock_ns = own_ns};
        run(&script, &plan);
        const int last = is_last ? ranks - 1 : ranks - 2;
        for (size_t i = 0; i < store.count; i++)
            assert_near(store.values[0][i], TOOK_NS + 1000.0 * last - 50.0, 1e-6);
        assert_int_equal(bc_samples_slowest_rank(&store, ranks), rank == 0 ? last : -1);
    }
}

/* Rounds in which the last rank was late are dropped and taken again, as long as there are retakes,
   and used where the time ends with too few others. */
TEST(missed_rounds_are_taken_again)
{
    static const struct {
        int late_every;
        int64_t rounds, retakes;
        double seconds; /* 0: as many as it takes */
        enum bc_end end;
        int64_t missed, used; /* -1: all that were missed */
    } cases[] = {{3, 300, 1000, 0.0, BC_END_SETTLED, 149, 0},
                 {1, 20, 7, 0.0, BC_END_SETTLED, 27, 20},
                 {1, 1000, INT64_MAX, 0.3, BC_END_TIME, -1, -1},
                 {2, 1000, INT64_MAX, 0.3, BC_END_TIME, -1, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct script script = {.value = constant,
                                .quantities = 1,
                                .together = true,
                                .late_every = cases[i].late_every,
                                .round_s = 0.01};
        struct bc_plan plan = fixed_plan(cases[i].rounds);
        plan.retakes = cases[i].retakes;
        plan.grace_rounds = 3;
        if (cases[i].seconds > 0.0)
            plan.deadline_s = bc_elapsed_s() + cases[i].seconds;
        assert_int_equal(run(&script, &plan), cases[i].end);
        if (rank != 0)
            continue;
        int64_t late = 0;
        for (size_t s = 0; s < store.count; s++)
            late += store.values[0][s] > LATE_NS;
        assert_int_equal(script.starts.rounds, script.rounds);
        assert_int_equal(script.starts.used, late);
        assert_int_equal(late, cases[i].used >= 0 ? cases[i].used : script.starts.missed);
        assert_int_equal(store.count, script.rounds - script.starts.missed + late);
        assert_true(script.starts.missed > 0 && store.count >= 3);
        if (cases[i].missed >= 0)
            assert_int_equal(script.starts.missed, cases[i].missed);
    }
}

/* The missed rounds of a visit are not used in the next one, which has its own number of rounds. */
TEST(misses_stay_in_their_visit)
{
    struct script late = {.value = constant, .quantities = 1, .together = true, .late_every = 3};
    struct script on_time = {.value = constant, .quantities = 1, .together = true};
    struct bc_plan plan = fixed_plan(30);
    plan.retakes = 1000;
    run(&late, &plan);
    plan.deadline_s = bc_elapsed_s() - 1.0;
    plan.grace_rounds = 3;
    assert_int_equal(visit(&on_time, &plan), BC_END_TIME);
    assert_int_equal(on_time.starts.used, 0);
    assert_int_equal(store.count, rank == 0 ? 31 : 0);
}

/* A run that goes on keeps the samples and the missed rounds of the run before; without time it
   takes none. */
TEST(runs_go_on)
{
    struct script late = {.value = constant, .quantities = 1, .together = true, .late_every = 1};
    struct script on_time = {.value = constant, .quantities = 1, .together = true};
    struct bc_plan plan = fixed_plan(5);
    const struct bc_plan anew = fixed_plan(1);
    run(&on_time, &anew);
    plan.adds = true;
    for (int i = 0; i < 2; i++)
        visit(&on_time, &plan);
    assert_int_equal(on_time.rounds, 5);
    assert_int_equal(store.count, rank == 0 ? 5 : 0);
    plan.retakes = 1000;
    plan.max_rounds = plan.min_rounds = 7;
    plan.deadline_s = bc_elapsed_s() - 1.0;
    visit(&late, &plan);
    assert_int_equal(late.rounds, 0);
    bc_samples_free(&store);
    if (rank == 0)
        bc_samples_begin_visit(&store);
    plan.grace_s = 10.0;
    for (int grace = 0; grace <= 1; grace++) {
        plan.grace_rounds = grace;
        visit(&late, &plan);
        assert_int_equal(late.starts.used, rank == 0 ? grace : 0);
        assert_int_equal(store.count, rank == 0 ? grace : 0);
    }
    assert_int_equal(late.rounds, 1);
}

/* ---- how many -------------------------------------------------------------------------------- */

struct looks {
    size_t counts[64];
    int number;
    int stop_at; /* the look that ends the run; 0: none does */
};

static bool look(const struct bc_samples *samples, void *context)
{
    struct looks *const looks = context;
    looks->counts[looks->number++ % 64] = samples->count;
    return looks->number == looks->stop_at;
}

/* Rank 0 is asked, each time that the visit's samples are a quarter more; its plan counts. */
TEST(settled_is_asked_at_growing_counts)
{
    static const struct {
        int64_t min, max, warmup;
        int stop_at;
        enum bc_end end;
        int rounds;
    } cases[] = {{30, 2000, 0, 0, BC_END_MAX, 2000},
                 {10, 100000, 0, 3, BC_END_SETTLED, 17}, /* 10, 13, 17 */
                 {10, 100000, 3, 3, BC_END_SETTLED, 17 + 3}};
    bc_samples_free(&store);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct looks looks = {.stop_at = rank == 0 ? cases[i].stop_at : 1};
        struct script script = {.value = rotating, .quantities = 1};
        struct bc_plan plan = {.min_rounds = 1, .max_rounds = 1 + rank, .deadline_s = 0.0};
        plan.settled = look;
        plan.context = &looks;
        if (rank == 0) {
            plan.min_rounds = cases[i].min;
            plan.max_rounds = cases[i].max;
            plan.warmup_rounds = cases[i].warmup;
            plan.deadline_s = INFINITY;
        }
        assert_int_equal(visit(&script, &plan), cases[i].end);
        assert_int_equal(script.rounds, cases[i].rounds);
        assert_int_equal(looks.number > 0, rank == 0);
        assert_int_equal(looks.counts[0], rank == 0 ? cases[i].min : 0);
        for (int n = 1; n < looks.number; n++) {
            assert_true(4 * looks.counts[n] >= 5 * looks.counts[n - 1]);
            assert_true(looks.counts[n] <= looks.counts[n - 1] * 5 / 4 + 1);
        }
    }
}

/* ---- how long -------------------------------------------------------------------------------- */

/* Rounds begin before the deadline, and after it as many as have grace. */
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
        struct script script = {.value = constant, .quantities = 1, .round_s = cases[i].round_s};
        const struct bc_plan plan = {.min_rounds = 30,
                                     .max_rounds = INT64_C(1) << 40,
                                     .deadline_s = bc_elapsed_s() + cases[i].seconds,
                                     .grace_rounds = cases[i].grace_rounds,
                                     .grace_s = cases[i].grace_s,
                                     .warmup_rounds = cases[i].warmup};
        assert_int_equal(run(&script, &plan), BC_END_TIME);
        assert_in_range(script.rounds, cases[i].min, cases[i].max);
        assert_true(rank != 0 || store.count >= 1);
    }
}

/* ---- warming up ------------------------------------------------------------------------------ */

/* `between` is called before the run ends, and not after rounds of the warm-up. */
TEST(warmup_is_not_counted)
{
    struct script script = {.value = rotating, .quantities = 1};
    struct bc_plan plan = fixed_plan(20);
    plan.warmup_rounds = 10;
    run(&script, &plan);
    assert_int_equal(script.between, 1);
    assert_int_equal(script.rounds_before_last, 30);
    assert_int_equal(store.count, rank == 0 ? 20 : 0);
    for (size_t i = 0; i < store.count; i++)
        assert_near(store.values[0][i], 1000.0 * (10 + (int)i) + ranks - 1, 0.0);
}

/* Until the median settles, for a share of the time or of many rounds; a source that ran before
   warms up for five rounds, or for one where that takes long against the time. */
TEST(automatic_warmup)
{
    static const struct {
        double (*value)(int round, int quantity);
        double round_s, seconds;
        bool was_warm;
        int min, max; /* rounds of the warm-up */
    } cases[] = {
        {warming, 0.0, INFINITY, false, 20, 40},       {constant, 0.0, INFINITY, false, 2, 12},
        {ever_falling, 0.0, INFINITY, false, 20, 200}, {ever_falling, 0.005, 0.3, false, 6, 11},
        {ever_falling, 0.0, INFINITY, true, 5, 5},     {ever_falling, 0.01, 0.5, true, 1, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct script script = {
            .value = cases[i].value, .quantities = 2, .round_s = cases[i].round_s};
        struct bc_plan plan = fixed_plan(20);
        plan.warmup_rounds = -1;
        plan.was_warm = cases[i].was_warm;
        plan.deadline_s = bc_elapsed_s() + cases[i].seconds;
        run(&script, &plan);
        assert_in_range(script.rounds, 20 + cases[i].min, 20 + cases[i].max);
        if (rank == 0 && cases[i].value == warming)
            assert_near(store.values[0][0], 100.0, 0.0);
    }
}

static void free_store(void) { bc_samples_free(&store); }

const struct test_program test_program = {.mpi = true, .tear_down = free_store};
