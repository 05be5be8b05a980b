/*
 * The shared clock and starts on it, on one machine, where all ranks read the same clock. For 2
 * ranks or more.
 */
#include "ranks.h"

#include "common/clock/clock.h"
#include "common/clock/shared/global_clock.h"
#include "common/mpi/harness.h"
#include "common/stats/sampling.h"
#include "common/clock/shared/start_window.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdbool.h>

static struct bc_job job;
static int64_t (*real_clock)(void);

/* ---- clocks that are known ------------------------------------------------------------------- */

/* Each rank's clock is 100 us ahead of the clock of the rank before, and 10 ppm faster. */
static int64_t shifted_clock(void)
{
    const int64_t now_ns = real_clock();
    return now_ns + job.rank * (INT64_C(100000) + now_ns / 100000);
}

static int64_t unshifted(int64_t shifted_ns)
{
    const double factor = 1.0 + 1e-5 * job.rank;
    return llround((double)(shifted_ns - INT64_C(100000) * job.rank) / factor);
}

static int64_t standing_clock(void) { return 42; }

/* Jumps by a tenth of a second at each 10,000th reading. */
static int64_t jumping_clock(void)
{
    static int64_t readings;
    return ++readings / 10000 * 100000000;
}

/* Where ranks share processors, one attempt may see less than there is to see. */
enum { ATTEMPTS = 3 };

/* ---- the shared clock ------------------------------------------------------------------------ */

TEST(one_clock_is_found_to_be_one)
{
    struct bc_global_clock *const clock = bc_global_clock_create(&job, 0.3, false);
    const struct bc_clock_model *const line = bc_global_clock_model(clock);
    const int64_t now_ns = bc_now_ns();
    const int64_t found_ns = bc_clock_model_reference(line, now_ns);
    const struct bc_global_clock_report report = bc_global_clock_report(clock);
    bc_global_clock_destroy(clock);
    assert_int_equal(found_ns, now_ns);
    assert_int_equal(report.shared, job.ranks - 1);
    assert_near(report.error_ns, 0.0, 0.0);
}

/* What a clock that was made for 0.5 s, and updated once, says of shifted clocks. */
struct told {
    double first_s;                      /* that making it took */
    double first_error_ns, error_ns;     /* before and after the update */
    double error_said_ns, later_said_ns; /* by itself: now, and in a second */
    double drift;
    struct bc_global_clock_report report; /* after the update */
};

static struct told tell_clocks_apart(void)
{
    struct told told;
    bc_clock_read = shifted_clock;
    struct bc_global_clock *const clock = bc_global_clock_create(&job, 0.5, false);
    const struct bc_clock_model *const line = bc_global_clock_model(clock);
    told.first_s = bc_global_clock_report(clock).took_s;
    const int64_t first_ns = bc_now_ns();
    told.first_error_ns = (double)(bc_clock_model_reference(line, first_ns) - unshifted(first_ns));
    bc_global_clock_update(clock);
    const int64_t now_ns = bc_now_ns();
    told.error_ns = (double)(bc_clock_model_reference(line, now_ns) - unshifted(now_ns));
    told.error_said_ns = bc_global_clock_error_ns(clock, now_ns);
    told.later_said_ns = bc_global_clock_error_ns(clock, now_ns + 1000000000);
    told.drift = line->drift;
    told.report = bc_global_clock_report(clock);
    bc_clock_read = real_clock;
    bc_global_clock_destroy(clock);
    return told;
}

TEST(several_clocks_are_told_apart)
{
    struct told told[ATTEMPTS];
    double drifts[ATTEMPTS];
    for (int i = 0; i < ATTEMPTS; i++) {
        told[i] = tell_clocks_apart();
        drifts[i] = told[i].drift;
    }
    const double tolerance_ns = job.oversubscribed ? 20000.0 : 1000.0;
    for (int i = 0; i < ATTEMPTS; i++) {
        assert_int_equal(told[i].report.shared, 0);
        assert_near(told[i].first_error_ns, 0.0, tolerance_ns);
        assert_near(told[i].error_ns, 0.0, tolerance_ns);
        assert_true(told[i].first_s < 2.0);
        assert_true(told[i].report.took_s < 1.0);
        assert_true(told[i].report.bound_ns > 0.0);
        if (job.rank > 0)
            assert_true(told[i].error_said_ns > 0.0 &&
                        told[i].later_said_ns > told[i].error_said_ns);
    }
    assert_near(bc_median(drifts, ATTEMPTS), 1e-5 * job.rank, 1e-6);
}

/* ---- starts ---------------------------------------------------------------------------------- */

static struct bc_start_window *create_window(void)
{
    const struct bc_clock_cost cost = bc_clock_measure();
    return bc_start_window_create(&job, &cost, job.oversubscribed ? 1.0 : 0.2);
}

/* Ranks start after the last rank has come, however late that is, and all at the same time where
   each has a processor. */
TEST(ranks_start_together)
{
    enum { STARTS = 100 };
    double apart_ns[STARTS];
    int early = 0;
    struct bc_start_window *const window = create_window();
    for (int i = 0; i < STARTS; i++) {
        if (i % job.ranks == job.rank)
            sleep_s(2e-4);
        int64_t last_ns = bc_now_ns();
        bc_start_window_wait(window);
        int64_t at_ns[2] = {bc_now_ns(), 0};
        at_ns[1] = -at_ns[0];
        const int64_t mine_ns = at_ns[0];
        MPI_Allreduce(MPI_IN_PLACE, at_ns, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &last_ns, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        apart_ns[i] = (double)(at_ns[0] + at_ns[1]);
        early += mine_ns < last_ns;
    }
    bc_start_window_destroy(window);
    assert_int_equal(early, 0);
    if (!job.oversubscribed)
        assert_true(bc_median(apart_ns, STARTS) < 1000.0);
}

TEST(times_are_on_the_shared_clock)
{
    double seconds_ns[ATTEMPTS], lateness_ns[ATTEMPTS];
    bc_clock_read = shifted_clock;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct bc_start_window *const window = create_window();
        bc_start_window_wait(window);
        const int64_t start_ns = bc_now_ns();
        seconds_ns[i] = bc_start_window_time(window, 1, start_ns, start_ns + 1000000000);
        lateness_ns[i] = bc_start_window_starts(window)->start_ns[1];
        bc_start_window_destroy(window);
    }
    bc_clock_read = real_clock;
    /* On rank r's own clock the time is 10,000 r ns longer. */
    assert_near(bc_median(seconds_ns, ATTEMPTS), 1e9 / (1.0 + 1e-5 * job.rank),
                job.oversubscribed ? 5000.0 : 1000.0);
    for (int i = 0; i < ATTEMPTS; i++)
        assert_true(lateness_ns[i] >= 0.0 && lateness_ns[i] < 1e9);
    assert_near(bc_start_window_time(NULL, 0, 5, 12), 7.0, 0.0);
    assert_null(bc_start_window_starts(NULL));
    bc_start_window_destroy(NULL);
}

/* No wait is endless on a clock that stands still or jumps, as clocks of simulations may. */
TEST(odd_clocks_end)
{
    static int64_t (*const clocks[])(void) = {standing_clock, jumping_clock};
    const struct bc_clock_cost cost = {0.0, 0.0};
    const double start_s = bc_elapsed_s();
    for (int i = 0; i < 2; i++) {
        bc_clock_read = clocks[i];
        struct bc_start_window *const window = bc_start_window_create(&job, &cost, 0.2);
        for (int j = 0; j < 10; j++)
            bc_start_window_wait(window);
        bc_start_window_destroy(window);
    }
    bc_clock_read = real_clock;
    assert_true(bc_elapsed_s() - start_s < 10.0);
}

static void describe_job(void)
{
    bc_clock_select(BC_CLOCK_MONOTONIC);
    real_clock = bc_clock_read;
    bc_job_describe(&job);
    bc_harness_choose(job.oversubscribed);
}

static void free_job(void) { bc_job_free(&job); }

const struct test_program test_program = {
    .mpi = true, .set_up = describe_job, .tear_down = free_job};
