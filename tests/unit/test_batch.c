/*
 * Batches of repetitions whose durations are known: how many are taken when there
 * is time and when there is none; run on 2 and on 4.
 */
#include "helpers.h"

#include "common/batch.h"
#include "common/quiet.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static int rank, ranks;
static struct bc_run run; /* of what bc_batch_measure looks at */
static struct bc_sampler *sampler;

struct script {
    double repetition_s; /* how long a repetition says it takes, and takes */
    bool sleeps;         /* ... or only says */
    int first_slower;    /* so many times does the first one take as long */
    int idle;            /* a rank that has no part, or -1 */
    double idle_s;       /* that it spends elsewhere each time */
    int64_t calls;       /* to repeat so far */
    double last_call_s;  /* when, and the shortest time between two */
    double least_gap_s;
    int64_t repetitions; /* in the last one */
};

static double repeat(void *context, int64_t repetitions)
{
    struct script *const s = context;
    double seconds = s->repetition_s * (double)repetitions;
    if (s->calls == 0 && s->first_slower > 0)
        seconds *= s->first_slower;
    const struct timespec pause = {.tv_nsec = (long)(seconds * 1e9)};
    const struct timespec idle_pause = {.tv_nsec = (long)(s->idle_s * 1e9)};
    const double now_s = bc_elapsed_s();
    if (s->calls == 0 || now_s - s->last_call_s < s->least_gap_s)
        s->least_gap_s = s->calls == 0 ? INFINITY : now_s - s->last_call_s;
    s->last_call_s = now_s;
    if (s->sleeps)
        nanosleep(&pause, NULL);
    if (rank == s->idle)
        nanosleep(&idle_pause, NULL);
    s->calls++;
    s->repetitions = repetitions;
    return rank == s->idle ? BC_NO_PART : floor(seconds * 1e9);
}

static struct bc_batch_result measure(struct script *script, bool oversubscribed,
                                      double seconds, const MPI_Comm *players)
{
    const struct bc_batch batch = {.repeat = repeat, .context = script,
                                   .clock_readings = 1.0,
                                   .quantity = "repetition",
                                   .players = players};
    struct bc_batch_result result;
    run.job.oversubscribed = oversubscribed;
    bc_quiet_choose(oversubscribed);
    bc_batch_measure(&run, sampler, &batch, seconds, &result);
    bc_quiet_choose(false);
    return result;
}

static void no_time_one_repetition(void **state)
{
    (void)state;
    struct script script = {.repetition_s = 0.01, .sleeps = true, .idle = -1};
    const struct bc_batch_result result = measure(&script, true, 0.0, NULL);
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.repetitions, 1);
    assert_false(result.in_time);
    if (rank != 0)
        return;
    assert_int_equal(result.repetition.count, 1);
    assert_int_equal(result.repetitions, 1);
    assert_near(result.repetition.value, 0.01e9, 1.0);
    assert_near(result.total_s, 0.01, 1e-6);
    assert_true(isnan(result.repetition.interval.lo));
    assert_in_range(result.slowest_rank, 0, ranks - 1);
}

/* A sample of something short is a batch all the same, and one without warm-up; a
   repetition that isn't timed comes before it. */
static void no_time_short_repetition(void **state)
{
    (void)state;
    struct script script = {.repetition_s = 1e-6, .idle = -1};
    const struct bc_batch_result result = measure(&script, true, 0.0, NULL);
    assert_int_equal(script.calls, 3);
    assert_int_equal(script.repetitions, 20);
    assert_false(result.in_time);
    if (rank == 0)
        assert_int_equal(result.repetition.count, 1);
}

/* The first repetition may have waited for a processor. */
static void second_repetition_decides(void **state)
{
    (void)state;
    struct script script = {.repetition_s = 1e-6, .first_slower = 10000,
                            .idle = -1};
    const struct bc_batch_result shared = measure(&script, true, 5.0, NULL);
    const int64_t shared_repetitions = script.repetitions;
    script.calls = 0;
    const struct bc_batch_result own = measure(&script, false, 5.0, NULL);
    assert_int_equal(shared_repetitions, 20);
    assert_int_equal(script.repetitions, 20);
    if (rank != 0)
        return;
    assert_true(shared.in_time && own.in_time);
    assert_near(shared.repetition.value, 1000.0, 1.0);
    assert_near(own.repetition.value, 1000.0, 1.0);
}

/* Time for a few: as many as there is time for, but 6 if they can be had in twice
   the time. */
static void some_time_some_samples(void **state)
{
    (void)state;
    struct script script = {.repetition_s = 0.05, .sleeps = true, .idle = -1};
    const double start_s = bc_elapsed_s();
    const struct bc_batch_result result = measure(&script, true, 0.5, NULL);
    const double took_s = bc_elapsed_s() - start_s;
    assert_int_equal(script.repetitions, 1);
    assert_false(result.in_time);
    assert_true(took_s < 1.2);
    /* The choice of a batch's length took two more, and warming up one. */
    if (rank == 0)
        assert_in_range(result.repetition.count, 5, 8);
}

static void asked_for_one_is_in_time(void **state)
{
    (void)state;
    struct script script = {.repetition_s = 0.001, .idle = -1};
    run.settings.samples = 1;
    const struct bc_batch_result result = measure(&script, true, 0.0, NULL);
    run.settings.samples = 3;
    const struct bc_batch_result three = measure(&script, true, INFINITY, NULL);
    run.settings.samples = 0;
    if (rank != 0)
        return;
    assert_true(result.in_time);
    assert_int_equal(result.repetition.count, 1);
    assert_true(three.in_time);
    assert_int_equal(three.repetition.count, 3);
}

/* One disturbed repetition in the choice of a batch's length makes no batches of one
   for all samples: not the first, nor the second. */
static void disturbances_do_not_decide(void **state)
{
    (void)state;
    for (int disturbed = 0; disturbed < 4; disturbed++) {
        struct script script = {.repetition_s = 1e-6, .first_slower = 1000,
                                .calls = -disturbed, .idle = -1};
        measure(&script, false, 5.0, NULL);
        assert_in_range(script.repetitions, 10, 40);
    }
}

/* A pair of readings is in a batch, not in each of its repetitions. */
static void clock_comes_off(void **state)
{
    (void)state;
    struct script script = {.repetition_s = 1e-6, .idle = -1};
    run.own_clock.read_ns = run.max_clock.read_ns = 100.0;
    const struct bc_batch_result result = measure(&script, false, 5.0, NULL);
    run.own_clock.read_ns = run.max_clock.read_ns = 0.0;
    if (rank == 0)
        assert_near(result.repetition.value,
                    1000.0 - 100.0 / (double)script.repetitions, 0.01);
}

/* A rank without a part is not waited for. */
static void those_without_a_part_do_not_wait(void **state)
{
    (void)state;
    struct script script = {.repetition_s = 1e-6, .idle = ranks - 1,
                            .idle_s = 0.02};
    const bool plays = rank != ranks - 1;
    MPI_Comm players;
    MPI_Comm_split(MPI_COMM_WORLD, plays ? 0 : MPI_UNDEFINED, rank, &players);
    const struct bc_batch_result result =
        measure(&script, true, 1.0, &players);
    if (plays)
        MPI_Comm_free(&players);
    if (rank != 0)
        return;
    assert_true(script.least_gap_s < 0.01);
    assert_near(result.repetition.value, 1000.0, 1.0);
    assert_in_range(result.slowest_rank, 0, ranks - 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
        return 1;
    run = (struct bc_run){
        .job = {.rank = rank, .ranks = ranks},
        .settings = {.precision_pct = 2.0, .confidence_pct = 95.0,
                     .min_samples = 30, .max_samples = 10000, .warmup = -1,
                     .estimator = BC_MEDIAN},
    };
    sampler = bc_sampler_create(MPI_COMM_WORLD);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_time_one_repetition),
        cmocka_unit_test(no_time_short_repetition),
        cmocka_unit_test(second_repetition_decides),
        cmocka_unit_test(disturbances_do_not_decide),
        cmocka_unit_test(clock_comes_off),
        cmocka_unit_test(some_time_some_samples),
        cmocka_unit_test(asked_for_one_is_in_time),
        cmocka_unit_test(those_without_a_part_do_not_wait),
    };
    int failures = cmocka_run_group_tests_name("batch", tests, NULL, NULL);
    bc_sampler_destroy(sampler);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
