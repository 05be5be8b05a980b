/*
 * What a rank lost to others: from known numbers, and to a process that wants the same processor.
 */
#include "helpers.h"
#include "streams.h"

#include "common/clock/clock.h"
#include "common/machine/contention.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the wait is known. */
static struct bc_loss loss_of(double seconds, double waited_s, int64_t switches)
{
    const struct bc_waits waits = {.seconds = seconds, .waited_s = waited_s, .switches = switches};
    return bc_loss_of(&waits);
}

static void waits_that_are_worth_a_warning(void **state)
{
    (void)state;
    /* Half of a second; switches don't matter where the wait is known. */
    assert_near(loss_of(1.0, 0.5, 1000).waited_share, 0.5, 1e-12);
    assert_near(loss_of(1.0, 0.5, 1000).switches_per_s, 0.0, 0.0);
    assert_near(loss_of(1.0, 0.0, 1000).switches_per_s, 0.0, 0.0);
    /* Below the threshold. */
    assert_near(loss_of(1.0, 0.049, 0).waited_share, 0.0, 0.0);
    assert_near(loss_of(1.0, 0.051, 0).waited_share, 0.051, 1e-12);
    /* A short row that a service interrupted, and one that waited nearly all of its time. */
    assert_near(loss_of(0.02, 0.002, 0).waited_share, 0.0, 0.0);
    assert_near(loss_of(0.004, 0.003, 0).waited_share, 0.75, 1e-12);
    /* The clocks differ. */
    assert_near(loss_of(1.0, 1.01, 0).waited_share, 1.0, 0.0);
    assert_near(loss_of(0.0, 1.0, 9).waited_share, 0.0, 0.0);
}

static struct bc_loss loss_by_switches(double seconds, int64_t switches)
{
    const struct bc_waits waits = {.seconds = seconds, .switches = switches, .unknown = true};
    return bc_loss_of(&waits);
}

static void switches_where_the_wait_is_not_known(void **state)
{
    (void)state;
    assert_near(loss_by_switches(2.0, 100).switches_per_s, 50.0, 1e-12);
    assert_near(loss_by_switches(2.0, 100).waited_share, 0.0, 0.0);
    assert_near(loss_by_switches(2.0, 50).switches_per_s, 0.0, 0.0);
    assert_near(loss_by_switches(0.01, 4).switches_per_s, 0.0, 0.0);
    /* The wait of one visit doesn't tell that of all. */
    const struct bc_waits partly = {1.0, 0.5, 100, true};
    assert_near(bc_loss_of(&partly).waited_share, 0.0, 0.0);
    assert_near(bc_loss_of(&partly).switches_per_s, 100.0, 1e-12);
}

static void ticks_of_the_processors(void **state)
{
    (void)state;
    static const char *const without[] = {"cpu  100 20 30 4000 500\n", "intr 1 2 3 4 5 6 7 8\n",
                                          ""};
    char path[TEMPORARY_PATH_MAX];
    make_temporary(path);
    write_text(path, "cpu  100 20 30 4000 500 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
    const struct bc_ticks ticks = bc_ticks_read(path);
    assert_int_equal(ticks.stolen, 80);
    assert_int_equal(ticks.busy, 243);
    for (size_t i = 0; i < COUNT(without); i++) {
        write_text(path, without[i]);
        const struct bc_ticks none = bc_ticks_read(path);
        assert_int_equal(none.stolen, 0);
        assert_int_equal(none.busy, 0);
    }
    unlink(path);
}

/* What a look adds to nothing. */
static struct bc_waits look(struct bc_contention *contention)
{
    struct bc_waits waits = {.seconds = 0.0};
    bc_contention_look(contention, &waits);
    return waits;
}

static double share_of(struct bc_waits waits) { return bc_loss_of(&waits).waited_share; }

static void looks_are_from_one_to_the_next(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH_MAX];
    make_temporary(path);
    struct bc_contention contention;
    write_text(path, "1 700000000000 3\n");
    bc_contention_begin(&contention, path);
    assert_near(share_of(look(&contention)), 0.0, 0.0);
    sleep_s(0.02);
    write_text(path, "1 700010000000 3\n");
    const double share = share_of(look(&contention));
    assert_true(share > 0.25 && share <= 0.51);
    assert_near(share_of(look(&contention)), 0.0, 0.0);
    /* A text without numbers means no wait. */
    write_text(path, "nothing\n");
    const struct bc_waits unknown = look(&contention);
    assert_near(share_of(unknown), 0.0, 0.0);
    assert_true(unknown.unknown);
    unlink(path);
}

/* The waits of two visits add up; what happens between the visits is nobody's. */
static void visits_add_up(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH_MAX];
    make_temporary(path);
    struct bc_contention contention;
    struct bc_waits waits = {.seconds = 0.0};
    write_text(path, "1 700000000000 3\n");
    bc_contention_begin(&contention, path);
    const double start_s = contention.looked_s;
    sleep_s(0.02);
    write_text(path, "1 700010000000 3\n");
    bc_contention_look(&contention, &waits);
    const double first_s = contention.looked_s - start_s;
    write_text(path, "1 700500000000 3\n");
    sleep_s(0.02);
    bc_contention_look(&contention, NULL);
    const double second_start_s = contention.looked_s;
    sleep_s(0.01);
    write_text(path, "1 700505000000 3\n");
    bc_contention_look(&contention, &waits);
    assert_near(waits.waited_s, 0.015, 1e-9);
    assert_near(waits.seconds, first_s + contention.looked_s - second_start_s, 1e-9);
    assert_false(waits.unknown);
    /* What one visit doesn't know the row doesn't know. */
    write_text(path, "nothing\n");
    bc_contention_look(&contention, &waits);
    write_text(path, "1 700505000000 3\n");
    bc_contention_look(&contention, NULL);
    bc_contention_look(&contention, &waits);
    assert_true(waits.unknown);
    unlink(path);
}

/* Computes for `seconds`. */
static void spin(double seconds)
{
    const double end_s = bc_elapsed_s() + seconds;
    while (bc_elapsed_s() < end_s)
        ;
}

static pid_t start_competitor(void)
{
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            ;
    return child;
}

static void pin(void)
{
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t processor = 0; CPU_COUNT(&one) == 0; processor++)
        if (CPU_ISSET(processor, &all))
            CPU_SET(processor, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

/* It takes half of the time where the kernel is fair. */
static void competitor_is_seen(void **state)
{
    (void)state;
    struct bc_contention waits, switches;
    pin();
    const pid_t competitor = start_competitor();
    bc_contention_begin(&waits, NULL);
    bc_contention_begin(&switches, "/no/such/file");
    if (waits.waited_ns < 0)
        print_message("this kernel counts no waits\n");
    spin(0.4);
    const double waited_share = share_of(look(&waits));
    const struct bc_waits seen = look(&switches);
    const struct bc_loss switched = bc_loss_of(&seen);
    kill(competitor, SIGKILL);
    waitpid(competitor, NULL, 0);
    if (waits.waited_ns >= 0)
        assert_true(waited_share > 0.3 && waited_share < 0.7);
    assert_true(switched.switches_per_s > BC_SWITCHES_PER_S_MAX);
    assert_near(switched.waited_share, 0.0, 0.0);

    spin(0.05);
    bc_contention_look(&waits, NULL);
    spin(0.4);
    assert_near(share_of(look(&waits)), 0.0, 0.0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(waits_that_are_worth_a_warning),
    cmocka_unit_test(switches_where_the_wait_is_not_known),
    cmocka_unit_test(ticks_of_the_processors),
    cmocka_unit_test(looks_are_from_one_to_the_next),
    cmocka_unit_test(visits_add_up),
    cmocka_unit_test(competitor_is_seen),
};
const struct test_program test_program = {
    .name = "contention",
    .tests = tests,
    .count = COUNT(tests),
};
