/*
 * Batches of repetitions whose durations are known: how many are taken when there is time and when
 * there is none. For 2 ranks or more.
 */
#include "ranks.h"

#include "common/stats/batch.h"
#include "common/mpi/harness.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

static struct bc_run run; /* what bc_batch_visit looks at */

struct script {
    double repetition_s; /* what `repeat` says that a repetition took */
    bool sleeps;         /* each repetition really takes that long */
    int first_slower;    /* the factor by which the first repetition is longer; 0: it is not */
    int idle;            /* the rank that has no part, or -1 */
    double idle_s;       /* the time that this rank spends in each call */
    bool late;           /* one repetition in 50, at random, takes LATE_TIMES as long */
    bool varies;         /* the times that are said vary at random, by half */
    struct random random;

    int64_t calls;       /* of `repeat` */
    double last_call_s;  /* when, on bc_elapsed_s() */
    double min_gap_s;    /* between two calls */
    int64_t repetitions; /* in the last call that had several; 1 if none had */
    int64_t singles;     /* calls for one repetition, and the time that these took */
    double singles_s;
};

#define LATE_TIMES 10

/* The ns that `repetitions` take, the same on all ranks. */
static double scripted_ns(struct script *s, int64_t repetitions)
{
    double seconds = 0.0;
    for (int64_t i = 0; i < repetitions; i++)
        seconds +=
            s->repetition_s * (s->late && random_uniform(&s->random) < 0.02 ? LATE_TIMES : 1);
    return 1e9 * seconds * (s->varies ? 0.5 + random_uniform(&s->random) : 1.0);
}

static double repeat(void *context, int64_t repetitions)
{
    struct script *const s = context;
    double seconds = scripted_ns(s, repetitions) * 1e-9;
    if (s->calls == 0 && s->first_slower > 0)
        seconds *= s->first_slower;
    const double now_s = bc_elapsed_s();
    if (s->calls == 0 || now_s - s->last_call_s < s->min_gap_s)
        s->min_gap_s = s->calls == 0 ? INFINITY : now_s - s->last_call_s;
    s->last_call_s = now_s;
    if (s->sleeps)
        sleep_s(seconds);
    if (rank == s->idle)
        sleep_s(s->idle_s);
    s->calls++;
    if (repetitions > 1 || s->repetitions == 0)
        s->repetitions = repetitions;
    if (repetitions == 1) {
        s->singles++;
        s->singles_s += bc_elapsed_s() - now_s;
    }
    return rank == s->idle ? BC_NO_PART : floor(seconds * 1e9);
}

/* One visit, and what it makes of its row. */
static struct bc_batch_result visit_once(const struct bc_batch *batch, double seconds)
{
    struct bc_batch_row row = {.repetitions = 0};
    struct bc_batch_result result;
    bc_batch_visit(&run, batch, seconds, &row);
    bc_batch_conclude(&run, &row, "repetition", &result);
    return result;
}

static struct bc_batch_result measure(struct script *script, bool oversubscribed, double seconds,
                                      const MPI_Comm *participants)
{
    const struct bc_batch batch = {
        .repeat = repeat, .context = script, .clock_readings = 1.0, .participants = participants};
    run.job.oversubscribed = oversubscribed;
    bc_harness_choose(oversubscribed);
    const struct bc_batch_result result = visit_once(&batch, seconds);
    bc_harness_choose(false);
    return result;
}

/* The precision was reached before the time was up. On rank 0. */
static bool in_time(const struct bc_batch_result *result)
{
    return result->outcome.status == BC_OK;
}

TEST(no_time_one_repetition)
{
    struct script script = {.repetition_s = 0.01, .sleeps = true, .idle = -1};
    const struct bc_batch_result result = measure(&script, true, 0.0, NULL);
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.repetitions, 1);
    if (rank != 0)
        return;
    assert_false(in_time(&result));
    assert_int_equal(result.repetition.count, 1);
    assert_int_equal(result.outcome.samples, 1);
    assert_int_equal(result.repetitions, 1);
    assert_near(result.repetition.value, 0.01e9, 1.0);
    assert_near(result.total_s, 0.01, 1e-6);
    assert_true(isnan(result.repetition.interval.lo));
    assert_in_range(result.outcome.slowest_rank, 0, ranks - 1);
}

/* A sample of a short repetition is a batch, even without time for warm-up; a single repetition
   follows. Before each of the two comes a repetition that isn't timed. */
TEST(no_time_short_repetition)
{
    struct script script = {.repetition_s = 1e-6, .idle = -1};
    const struct bc_batch_result result = measure(&script, true, 0.0, NULL);
    assert_int_equal(script.calls, 5);
    assert_int_equal(script.repetitions, 20);
    if (rank != 0)
        return;
    assert_false(in_time(&result));
    assert_int_equal(result.repetition.count, 1);
}

/* The first repetition may have waited for a processor. */
TEST(second_repetition_decides)
{
    struct script script = {.repetition_s = 1e-6, .first_slower = 10000, .idle = -1};
    const struct bc_batch_result shared = measure(&script, true, 5.0, NULL);
    const int64_t shared_repetitions = script.repetitions;
    script.calls = 0;
    const struct bc_batch_result own = measure(&script, false, 5.0, NULL);
    assert_int_equal(shared_repetitions, 20);
    assert_int_equal(script.repetitions, 20);
    if (rank != 0)
        return;
    assert_true(in_time(&shared) && in_time(&own));
    assert_near(shared.repetition.value, 1000.0, 1.0);
    assert_near(own.repetition.value, 1000.0, 1.0);
}

/* As many samples as there is time for, but 6 if these fit into twice the time. */
TEST(some_time_some_samples)
{
    struct script script = {.repetition_s = 0.05, .sleeps = true, .idle = -1};
    const double start_s = bc_elapsed_s();
    const struct bc_batch_result result = measure(&script, true, 0.5, NULL);
    const double took_s = bc_elapsed_s() - start_s;
    assert_int_equal(script.repetitions, 1);
    assert_true(took_s < 1.2);
    if (rank != 0)
        return;
    assert_false(in_time(&result));
    /* Choosing the length of a batch took two more repetitions, and warming up one. */
    assert_in_range(result.repetition.count, 5, 8);
}

TEST(asked_for_one_is_in_time)
{
    struct script script = {.repetition_s = 0.001, .idle = -1};
    run.settings.samples = 1;
    const struct bc_batch_result result = measure(&script, true, 0.0, NULL);
    run.settings.samples = 3;
    const struct bc_batch_result three = measure(&script, true, INFINITY, NULL);
    run.settings.samples = 0;
    if (rank != 0)
        return;
    assert_true(in_time(&result));
    assert_int_equal(result.repetition.count, 1);
    assert_true(in_time(&three));
    assert_int_equal(three.repetition.count, 3);
}

/* ---- single repetitions ---------------------------------------------------------------------- */

/* Of 1 us, where one in 50 takes 10 us: that is the 99th percentile, not a batch's mean.
   Single repetitions aren't among the samples that were asked for. */
TEST(late_repetitions_are_the_tail)
{
    struct script script = {.repetition_s = 1e-6, .idle = -1, .late = true};
    const struct bc_batch_result adaptive = measure(&script, false, 5.0, NULL);
    run.settings.samples = 7;
    const struct bc_batch_result fixed = measure(&script, false, INFINITY, NULL);
    run.settings.samples = 0;
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
    assert_near(fixed.total_s, 1e-6 * (double)fixed.repetitions,
                1e-6 * LATE_TIMES * 0.2 * (double)fixed.repetitions);
}

/* --samples=N takes N batches and N single repetitions, with a repetition that isn't timed before
   each of them. */
TEST(as_many_single_repetitions_as_samples)
{
    struct script script = {.repetition_s = 1e-6, .idle = -1};
    const struct bc_batch batch = {.repeat = repeat, .context = &script, .repetitions = 20};
    run.settings.samples = 7;
    run.settings.warmup = 0;
    visit_once(&batch, INFINITY);
    run.settings.samples = 0;
    run.settings.warmup = -1;
    assert_int_equal(script.singles, 7 + 2 * 7);
    assert_int_equal(script.calls, script.singles + 7);
}

/* Single repetitions take a share of the row's time, and no time after its end. */
TEST(single_repetitions_leave_the_time)
{
    struct script script = {.repetition_s = 1e-3, .sleeps = true, .idle = -1, .varies = true};
    const struct bc_batch batch = {.repeat = repeat, .context = &script, .repetitions = 10};
    run.settings.precision_pct = 0.001;
    const double start_s = bc_elapsed_s();
    const struct bc_batch_result result = visit_once(&batch, 2.0);
    const double took_s = bc_elapsed_s() - start_s;
    run.settings.precision_pct = 2.0;
    /* Before each batch and each single repetition comes one that isn't timed. */
    const double untimed_s = 1e-3 * 1.5 * (double)script.calls / 2.0;
    if (rank != 0)
        return;
    assert_false(in_time(&result));
    assert_true(took_s < 2.0 * 1.1);
    assert_true(script.singles_s < 0.2 * took_s + untimed_s);
    assert_true(result.total_s > 0.5 * took_s);
}

/* Where one of the repetitions that choose the length of a batch is disturbed, whichever it is, the
   batches of all samples still have several. */
TEST(disturbances_do_not_decide)
{
    for (int disturbed = 0; disturbed < 4; disturbed++) {
        struct script script = {
            .repetition_s = 1e-6, .first_slower = 1000, .calls = -disturbed, .idle = -1};
        measure(&script, false, 5.0, NULL);
        assert_in_range(script.repetitions, 10, 40);
    }
}

/* A batch has one pair of clock readings, not one for each repetition. */
TEST(clock_comes_off)
{
    struct script script = {.repetition_s = 1e-6, .idle = -1};
    run.own_clock.read_ns = run.max_clock.read_ns = 100.0;
    const struct bc_batch_result result = measure(&script, false, 5.0, NULL);
    run.own_clock.read_ns = run.max_clock.read_ns = 0.0;
    if (rank == 0)
        assert_near(result.repetition.value, 1000.0 - 100.0 / (double)script.repetitions, 0.01);
}

/* Ranks don't wait for a rank that has no part. */
TEST(those_without_a_part_do_not_wait)
{
    struct script script = {.repetition_s = 1e-6, .idle = ranks - 1, .idle_s = 0.02};
    const bool plays = rank != ranks - 1;
    MPI_Comm participants;
    MPI_Comm_split(MPI_COMM_WORLD, plays ? 0 : MPI_UNDEFINED, rank, &participants);
    const struct bc_batch_result result = measure(&script, true, 1.0, &participants);
    if (plays)
        MPI_Comm_free(&participants);
    if (rank != 0)
        return;
    assert_true(script.min_gap_s < 0.01);
    assert_near(result.repetition.value, 1000.0, 1.0);
    assert_in_range(result.outcome.slowest_rank, 0, ranks - 2);
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* --samples=7 in 3 visits: the row is done after the last of them, and not before. */
TEST(visits_share_the_samples)
{
    struct script script = {.repetition_s = 1e-6, .idle = -1};
    const struct bc_batch batch = {.repeat = repeat, .context = &script, .repetitions = 20};
    struct bc_batch_row row = {.repetitions = 0};
    struct bc_batch_result result;
    size_t batches[3], singles[3];
    bool precise[3];
    run.settings.samples = 7;
    run.settings.warmup = 0;
    run.visits = 3;
    for (run.visit = 0; run.visit < 3; run.visit++) {
        bc_batch_visit(&run, &batch, INFINITY, &row);
        batches[run.visit] = row.batches.count;
        singles[run.visit] = row.singles.count;
        precise[run.visit] = bc_batch_is_precise(&run, &row);
    }
    run.presence = (struct bc_presence){3, 0.5};
    bc_batch_conclude(&run, &row, "repetition", &result);
    run.presence = (struct bc_presence){0, 0.0};
    run.settings.samples = 0;
    run.settings.warmup = -1;
    run.visit = 0;
    run.visits = 1;
    assert_null(row.batches.values[0]);
    assert_null(row.singles.values[0]);
    if (rank != 0)
        return;
    for (int visit = 0; visit < 3; visit++) {
        static const size_t in_all[] = {2, 4, 7};
        assert_int_equal(batches[visit], in_all[visit]);
        assert_int_equal(singles[visit], in_all[visit]);
        assert_true(precise[visit] == (visit == 2));
    }
    assert_true(in_time(&result));
    assert_int_equal(result.repetition.count, 7);
    assert_int_equal(result.repetitions, 7 * 20);
    assert_int_equal(result.outcome.samples, 7);
    assert_int_equal(result.outcome.visits, 3);
    assert_near(result.outcome.lost_pct, 0.5, 0.0);
}

/* Six visits, where every other one finds repetitions that take `factor` times as long. */
static struct bc_batch_result visit_six_times(struct script *script, double factor,
                                              bool oversubscribed, bool *precise)
{
    const struct bc_batch batch = {.repeat = repeat, .context = script};
    const double repetition_s = script->repetition_s;
    struct bc_batch_row row = {.repetitions = 0};
    struct bc_batch_result result;
    run.job.oversubscribed = oversubscribed;
    run.visits = 6;
    for (run.visit = 0; run.visit < 6; run.visit++) {
        script->repetition_s = repetition_s * (run.visit % 2 == 0 ? 1.0 : factor);
        bc_batch_visit(&run, &batch, 5.0, &row);
    }
    *precise = bc_batch_is_precise(&run, &row);
    bc_batch_conclude(&run, &row, "repetition", &result);
    run.job.oversubscribed = false;
    run.visit = 0;
    run.visits = 1;
    return result;
}

/* Each visit by itself is as precise as can be. */
TEST(visits_must_agree)
{
    struct script same = {.repetition_s = 1e-6, .idle = -1}, other = same;
    bool same_precise, other_precise;
    const struct bc_batch_result agreed = visit_six_times(&same, 1.0, false, &same_precise);
    const struct bc_batch_result spread = visit_six_times(&other, 1.2, false, &other_precise);
    if (rank != 0)
        return;
    assert_true(same_precise && in_time(&agreed));
    assert_near(agreed.repetition.value, 1000.0, 1.0);
    assert_false(other_precise || in_time(&spread));
    assert_near(spread.repetition.value, 1100.0, 1.0);
    assert_near(spread.repetition.interval.lo, 1000.0, 1.0);
    assert_near(spread.repetition.interval.hi, 1200.0, 1.0);
    /* The fewest samples of a row, divided among its visits, and a few looks more. */
    assert_in_range(agreed.repetition.count, 30, 100);
}

/* The first visit finds it, even where later ones find repetitions a hundred times as long. */
TEST(length_is_found_once)
{
    struct script scripts[2]; /* in a job of its own, and in an oversubscribed one */
    struct bc_batch_result results[2];
    for (int shared = 0; shared < 2; shared++) {
        bool precise;
        scripts[shared] = (struct script){.repetition_s = 1e-6, .idle = -1};
        results[shared] = visit_six_times(&scripts[shared], 100.0, shared != 0, &precise);
    }
    for (int shared = 0; shared < 2; shared++) {
        assert_int_equal(scripts[shared].repetitions, 20);
        if (rank == 0)
            assert_int_equal(results[shared].repetitions,
                             20 * (int64_t)results[shared].repetition.count);
    }
}

static void create_run(void)
{
    run = (struct bc_run){
        .job = {.rank = rank, .ranks = ranks},
        .settings = bc_default_settings,
        .sampler = bc_sampler_create(MPI_COMM_WORLD),
        .visits = 1,
    };
}

static void destroy_run(void) { bc_sampler_destroy(run.sampler); }

const struct test_program test_program = {
    .mpi = true, .set_up = create_run, .tear_down = destroy_run};
