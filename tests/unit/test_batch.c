/*
 * Batches of repetitions whose durations are known: how long they are, and how many are taken when
 * there is time, in virtual time, and when there is none.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/clock/source.h"
#include "common/measure/batch.h"
#include "common/run/internal.h"

/* ---- lengths of batches ---------------------------------------------------------------------- */

TEST(batches_are_long_against_the_clock)
{
    const struct bc_clock_cost quick = {.read_ns = 20.0}, slow = {.read_ns = 1000.0};
    assert_near(bc_batch_ns(&quick, 20000.0), 20000.0, 0.0);
    assert_near(bc_batch_ns(&slow, 20000.0), 100000.0, 0.0);
}

struct known {
    double repetition_ns;
    int disturbed; /* the call that takes a second; -1: none */
    int calls;
};

static double repeat_known(void *context, int64_t repetitions)
{
    struct known *const known = context;
    return known->calls++ == known->disturbed ? 1e9 : known->repetition_ns * (double)repetitions;
}

static int64_t double_from(int64_t min, int64_t max, double repetition_ns, int disturbed)
{
    struct known known = {.repetition_ns = repetition_ns, .disturbed = disturbed};
    return bc_batch_double(min, max, 20000.0, repeat_known, &known);
}

/* One that is disturbed, whichever it is, changes nothing. */
TEST(repetitions_are_doubled)
{
    for (int disturbed = -1; disturbed < 9; disturbed++)
        assert_int_equal(double_from(1, 65536, 100.0, disturbed), 256);
    assert_int_equal(double_from(1, 65536, 20000.0, -1), 1);
    assert_int_equal(double_from(3, 65536, 100.0, -1), 384); /* 3 ranks that take turns */
    assert_int_equal(double_from(1, 65536, 0.0, -1), 65536);
    assert_int_equal(double_from(1, 100, 10.0, -1), 100);
    assert_int_equal(double_from(7, 5, 1.0, -1), 5);
}

/* ---- batches --------------------------------------------------------------------------------- */

static struct bc_own_run own;
static struct bc_run run; /* what bc_batch_visit looks at */

#define LATE_TIMES 10

struct script {
    double repetition_s;
    int first_slower; /* the factor by which the first call is longer; 0: it is not */
    int idle;         /* the rank that has no part, or -1; it waits a second in each call */
    bool late;        /* one repetition in 50, at random, takes LATE_TIMES as long */
    bool varies;      /* times vary at random, by half */
    struct random random;

    int64_t calls;
    int64_t repetitions; /* in the last call that had several; 1 if none had */
    int64_t singles;     /* calls for one repetition, and the time that these took */
    double singles_s;
    double ended_s;
};

/* The same on all ranks that have a part. */
static double repeat(void *context, int64_t repetitions)
{
    struct script *const s = context;
    double seconds = 0.0;
    for (int64_t i = 0; i < repetitions; i++)
        seconds +=
            s->repetition_s * (s->late && random_uniform(&s->random) < 0.02 ? LATE_TIMES : 1);
    seconds *= s->varies ? 0.5 + random_uniform(&s->random) : 1.0;
    if (s->calls++ == 0 && s->first_slower > 0)
        seconds *= s->first_slower;
    bc_sleep_ns(rank == s->idle ? 1000000000 : llround(seconds * 1e9));
    if (repetitions > 1 || s->repetitions == 0)
        s->repetitions = repetitions;
    s->singles += repetitions == 1;
    s->singles_s += repetitions == 1 ? seconds : 0.0;
    s->ended_s = bc_elapsed_s();
    return rank == s->idle ? BC_NO_PART : floor(seconds * 1e9);
}

static struct bc_batch_result measure_by(const struct bc_batch *batch, double seconds)
{
    struct bc_batch_row row = {.repetitions = 0};
    struct bc_batch_result result;
    bc_batch_visit(&run, batch, seconds, &row);
    bc_batch_conclude(&run, &row, "repetition", &result);
    return result;
}

static struct bc_batch_result measure(struct script *script, bool oversubscribed, double seconds)
{
    const struct bc_batch batch = {.repeat = repeat, .context = script, .clock_readings = 1.0};
    run.job.oversubscribed = oversubscribed;
    return measure_by(&batch, seconds);
}

/* The precision was reached before the time was up. */
static bool in_time(const struct bc_batch_result *result)
{
    return result->outcome.status == BC_OK;
}

/* A sample of a short repetition is a batch, even without time for warm-up; a single repetition
   follows. Before each of the two comes a repetition that isn't timed. */
TEST(no_time)
{
    struct script slow = {.repetition_s = 0.01, .idle = -1};
    struct script quick = {.repetition_s = 1e-6, .idle = -1};
    const struct bc_batch_result slow_result = measure(&slow, true, 0.0);
    const struct bc_batch_result quick_result = measure(&quick, true, 0.0);
    assert_int_equal(slow.calls, 1);
    assert_int_equal(slow.repetitions, 1);
    assert_int_equal(quick.calls, 5);
    assert_int_equal(quick.repetitions, 20);
    if (rank != 0)
        return;
    assert_false(in_time(&slow_result) || in_time(&quick_result));
    assert_int_equal(slow_result.repetition.count, 1);
    assert_int_equal(slow_result.repetitions, 1);
    assert_near(slow_result.repetition.value, 0.01e9, 1.0);
    assert_near(slow_result.total_s, 0.01, 1e-6);
    assert_true(isnan(slow_result.repetition.interval.lo));
    assert_int_equal(quick_result.repetition.count, 1);
}

/* The first repetition may have waited for a processor. */
TEST(second_repetition_decides)
{
    for (int shared = 0; shared <= 1; shared++) {
        struct script script = {.repetition_s = 1e-6, .first_slower = 10000, .idle = -1};
        const struct bc_batch_result result = measure(&script, shared, 5.0);
        assert_int_equal(script.repetitions, 20);
        if (rank == 0)
            assert_true(in_time(&result) && fabs(result.repetition.value - 1000.0) < 1.0);
    }
}

/* As many samples as there is time for: 10, of which choosing the length took two, and warming up
   one. */
TEST(some_time_some_samples)
{
    struct script script = {.repetition_s = 0.05, .idle = -1};
    const struct bc_batch_result result = measure(&script, true, 0.5);
    assert_int_equal(script.repetitions, 1);
    assert_in_range(script.calls, 9, 11);
    assert_false(rank == 0 && in_time(&result));
    assert_in_range(result.repetition.count, rank == 0 ? 7 : 0, rank == 0 ? 8 : 0);
}

TEST(asked_for_one_is_in_time)
{
    for (int samples = 1; samples <= 3; samples += 2) {
        struct script script = {.repetition_s = 0.001, .idle = -1};
        run.settings.samples = samples;
        const struct bc_batch_result result = measure(&script, true, samples == 1 ? 0.0 : INFINITY);
        assert_true(rank != 0 || (in_time(&result) && (int)result.repetition.count == samples));
    }
}

/* ---- single repetitions ---------------------------------------------------------------------- */

/* Of 1 us, where one in 50 takes 10 us: that is the 99th percentile, not a batch's mean.
   Single repetitions aren't among the samples that were asked for. */
TEST(late_repetitions_are_the_tail)
{
    struct script script = {.repetition_s = 1e-6, .idle = -1, .late = true};
    const struct bc_batch_result adaptive = measure(&script, false, 5.0);
    run.settings.samples = 7;
    const struct bc_batch_result fixed = measure(&script, false, INFINITY);
    if (rank != 0)
        return;
    assert_near(adaptive.repetition.p99, 1000.0 * LATE_TIMES, 1.0);
    assert_near(adaptive.repetition.max, 1000.0 * LATE_TIMES, 1.0);
    assert_in_range((uintmax_t)adaptive.repetition.value, 1000, 2000);
    /* The longest of 7 repetitions may be late or not, but is no mean. */
    assert_true(fabs(fixed.repetition.max - 1000.0) < 1.0 ||
                fabs(fixed.repetition.max - 1000.0 * LATE_TIMES) < 1.0);
    assert_int_equal(fixed.repetition.count, 7);
    assert_int_equal(fixed.repetitions, 7 * script.repetitions);
}

/* They take a share of the row's time, and none after its end. Before each batch and each single
   repetition comes one that isn't timed. */
TEST(single_repetitions_leave_the_time)
{
    struct script script = {.repetition_s = 1e-3, .idle = -1, .varies = true};
    const struct bc_batch batch = {.repeat = repeat, .context = &script, .repetitions = 10};
    run.settings.precision_pct = 0.001;
    const double start_s = bc_elapsed_s();
    const struct bc_batch_result result = measure_by(&batch, 2.0);
    const double took_s = script.ended_s - start_s;
    if (rank != 0)
        return;
    assert_false(in_time(&result));
    assert_true(took_s < 2.0 * 1.02);
    assert_true(script.singles_s < 0.3 * took_s);
    assert_true(result.total_s > 0.5 * took_s);
}

/* Ranks don't wait for a rank that has no part. */
TEST(those_without_a_part_do_not_wait)
{
    struct script script = {.repetition_s = 1e-6, .idle = ranks - 1};
    const bool plays = rank != ranks - 1;
    MPI_Comm participants;
    MPI_Comm_split(MPI_COMM_WORLD, plays ? 0 : MPI_UNDEFINED, rank, &participants);
    const struct bc_batch batch = {
        .repeat = repeat, .context = &script, .repetitions = 20, .participants = &participants};
    run.settings.samples = 10;
    const double start_s = bc_elapsed_s();
    const struct bc_batch_result result = measure_by(&batch, INFINITY);
    if (plays)
        MPI_Comm_free(&participants);
    if (plays)
        assert_true(script.ended_s - start_s < 0.9 * (double)script.calls);
    if (rank != 0)
        return;
    assert_near(result.repetition.value, 1000.0, 1.0);
    assert_in_range(result.outcome.slowest_rank, 0, ranks - 2);
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* --samples=7 in 3 visits, with as many single repetitions and with one that isn't timed before
   each: the row is done after the last of them, and not before. */
TEST(visits_share_the_samples)
{
    static const size_t in_all[] = {2, 4, 7};
    struct script script = {.repetition_s = 1e-6, .idle = -1};
    const struct bc_batch batch = {.repeat = repeat, .context = &script, .repetitions = 20};
    struct bc_batch_row row = {.repetitions = 0};
    struct bc_batch_result result;
    run.settings.samples = 7;
    run.settings.warmup = 0;
    run.visits = 3;
    for (run.visit = 0; run.visit < 3; run.visit++) {
        bc_batch_visit(&run, &batch, INFINITY, &row);
        assert_int_equal(row.batches.count, rank == 0 ? in_all[run.visit] : 0);
        assert_int_equal(row.singles.count, rank == 0 ? in_all[run.visit] : 0);
        assert_true(rank != 0 || bc_batch_is_precise(&run, &row, -1) == (run.visit == 2));
    }
    run.visited = (struct bc_outcome){.visits = 3, .lost_pct = 0.5};
    bc_batch_conclude(&run, &row, "repetition", &result);
    assert_int_equal(script.singles, 7 + 2 * 7);
    assert_int_equal(script.calls, script.singles + 7);
    if (rank != 0)
        return;
    assert_true(in_time(&result));
    assert_int_equal(result.repetition.count, 7);
    assert_int_equal(result.repetitions, 7 * 20);
    assert_int_equal(result.outcome.samples, 7);
    assert_int_equal(result.outcome.visits, 3);
    assert_near(result.outcome.lost_pct, 0.5, 0.0);
}

/* Six visits, where every other one finds repetitions that take `factor` times as long, each by
   itself as precise as can be. The first one finds the length of batches. */
TEST(visits_must_agree)
{
    static const struct {
        double factor;
        bool oversubscribed, precise;
        double ns, lo_ns, hi_ns;
    } cases[] = {{1.0, false, true, 1000.0, 1000.0, 1000.0},
                 {1.2, false, false, 1100.0, 1000.0, 1200.0},
                 {100.0, false, false, 50500.0, 1000.0, 100000.0},
                 {100.0, true, false, 50500.0, 1000.0, 100000.0}};
    run.visits = 6;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct script script = {.idle = -1};
        const struct bc_batch batch = {.repeat = repeat, .context = &script};
        struct bc_batch_row row = {.repetitions = 0};
        struct bc_batch_result result;
        run.job.oversubscribed = cases[i].oversubscribed;
        for (run.visit = 0; run.visit < 6; run.visit++) {
            script.repetition_s = 1e-6 * (run.visit % 2 == 0 ? 1.0 : cases[i].factor);
            bc_batch_visit(&run, &batch, 5.0, &row);
        }
        bc_batch_conclude(&run, &row, "repetition", &result);
        assert_int_equal(script.repetitions, 20);
        if (rank != 0)
            continue;
        assert_true(in_time(&result) == cases[i].precise);
        assert_near(result.repetition.value, cases[i].ns, 1.0);
        assert_near(result.repetition.interval.lo, cases[i].lo_ns, 1.0);
        assert_near(result.repetition.interval.hi, cases[i].hi_ns, 1.0);
        assert_int_equal(result.repetitions, 20 * (int64_t)result.repetition.count);
        /* The fewest samples of a row, divided among its visits, and a few looks more. */
        assert_in_range(result.repetition.count, 30, 100);
    }
}

static int create_run(void **state)
{
    run = (struct bc_run){
        .job = {.rank = rank, .ranks = ranks},
        .settings = bc_default_settings,
        .visits = 1,
        .own = &own,
    };
    return 0;
}

const struct test_program test_program = {.mpi = true, .before_each = create_run};
