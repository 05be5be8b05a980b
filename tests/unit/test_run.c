/* How a run shares its time out among its rows. */
#include "helpers.h"

#include "common/clock/clock.h"
#include "common/run/run.h"

/* A run that has taken 10 s of its budget, and the option that says how long a row
   may take. */
static struct bc_option max_time;
static struct bc_run run;

static void start(double budget_s)
{
    run = (struct bc_run){
        .settings = {.max_time_s = 1.0},
        .options = {.rows = &max_time, .count = 1},
        .start_s = bc_elapsed_s() - 10.0,
        .budget_s = budget_s,
    };
    max_time = (struct bc_option){
        .long_name = "max-time", .kind = BC_REAL, .value = &run.settings.max_time_s};
}

static void budget_is_shared(void **state)
{
    (void)state;
    start(50.0);
    assert_near(bc_run_row_seconds(&run, 400), 0.1, 0.01);
    assert_near(bc_run_row_seconds(&run, 80), 0.5, 0.05);
    assert_near(bc_run_row_seconds(&run, 2), 1.0, 0.0);
    start(5.0);
    assert_near(bc_run_row_seconds(&run, 400), 0.0, 0.0);
}

static void no_budget(void **state)
{
    (void)state;
    start(INFINITY);
    assert_near(bc_run_row_seconds(&run, 1), 1.0, 0.0);
    assert_near(bc_run_row_seconds(&run, 1000000), 1.0, 0.0);
}

/* A time for a row, or a number of samples, is asked for in any budget. */
static void given_beats_budget(void **state)
{
    (void)state;
    start(50.0);
    run.settings.max_time_s = 3.0;
    max_time.source = BC_FROM_ARGUMENT;
    assert_near(bc_run_row_seconds(&run, 400), 3.0, 0.0);
    start(50.0);
    run.settings.samples = 5;
    assert_true(isinf(bc_run_row_seconds(&run, 400)));
    max_time.source = BC_FROM_ARGUMENT;
    assert_near(bc_run_row_seconds(&run, 400), 1.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_is_shared),
        cmocka_unit_test(no_budget),
        cmocka_unit_test(given_beats_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
