/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank lost to others: from known numbers, in virtual time.
 */
#include "helpers.h"

#include "common/clock/source.h"
#include "common/job/contention.h"
#include "common/job/limits.h"

/* Contents of /proc/stat, and the second number of /proc/thread-self/schedstat; -1: none. */
static int64_t ticks[8] = {-1}, waited_ns = -1;

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker's name */
bool __wrap_bc_system_numbers(int64_t *numbers, int count, const char *word, const char *path, ...);
bool __wrap_bc_system_numbers(int64_t *numbers, int count, const char *word, const char *path, ...)
{
    const bool is_stat = strcmp(path, "/proc/stat") == 0;
    assert_string_equal(path, is_stat ? "/proc/stat" : "/proc/thread-self/schedstat");
    assert_string_equal(word, is_stat ? "cpu " : "");
    assert_int_equal(count, is_stat ? 8 : 2);
    const int64_t sched[2] = {1, waited_ns};
    memcpy(numbers, is_stat ? ticks : sched, (size_t)count * sizeof *numbers);
    return numbers[is_stat ? 0 : 1] >= 0;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

TEST(waits_that_are_worth_a_warning)
{
    static const struct {
        struct bc_waits waits;
        double share;
    } cases[] = {
        /* Half of a second. */
        {{1.0, 0.5, false}, 0.5},
        {{1.0, 0.0, false}, 0.0},
        /* Below the threshold, and above. */
        {{1.0, 0.049, false}, 0.0},
        {{1.0, 0.051, false}, 0.051},
        /* A short row that a service interrupted, and one that waited nearly all of its time. */
        {{0.02, 0.002, false}, 0.0},
        {{0.004, 0.003, false}, 0.75},
        /* The clocks differ. */
        {{1.0, 1.01, false}, 1.0},
        {{0.0, 1.0, false}, 0.0},
        /* The wait of one visit doesn't tell that of all. */
        {{1.0, 0.5, true}, 0.0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_near(bc_waited_share(&cases[i].waits), cases[i].share, 1e-12);
}

TEST(ticks_of_the_processors)
{
    struct bc_contention contention;
    memcpy(ticks, (int64_t[]){100, 20, 30, 4000, 500, 6, 7, 80}, sizeof ticks);
    bc_contention_begin(&contention);
    assert_int_equal(contention.ticks.stolen, 80);
    assert_int_equal(contention.ticks.busy, 243);
    ticks[0] = -1;
    bc_contention_begin(&contention);
    assert_int_equal(contention.ticks.stolen, 0);
    assert_int_equal(contention.ticks.busy, 0);
}

/* Returns the counts of one look. */
static struct bc_waits look(struct bc_contention *contention)
{
    struct bc_waits waits = {.seconds = 0.0};
    bc_contention_look(contention, &waits);
    return waits;
}

static double share_of(struct bc_waits waits) { return bc_waited_share(&waits); }

TEST(looks_are_from_one_to_the_next)
{
    struct bc_contention contention;
    waited_ns = 700000000000;
    bc_contention_begin(&contention);
    assert_near(share_of(look(&contention)), 0.0, 0.0);
    bc_sleep_ns(20000000);
    waited_ns = 700010000000;
    assert_near(share_of(look(&contention)), 0.5, 1e-3);
    assert_near(share_of(look(&contention)), 0.0, 0.0);
    /* Without a number there is no wait. */
    waited_ns = -1;
    const struct bc_waits unknown = look(&contention);
    assert_near(share_of(unknown), 0.0, 0.0);
    assert_true(unknown.unknown);
}

/* The waits of two visits add up; what happens between the visits is nobody's. */
TEST(visits_add_up)
{
    struct bc_contention contention;
    struct bc_waits waits = {.seconds = 0.0};
    waited_ns = 700000000000;
    bc_contention_begin(&contention);
    const double start_s = contention.looked_s;
    bc_sleep_ns(20000000);
    waited_ns = 700010000000;
    bc_contention_look(&contention, &waits);
    const double first_s = contention.looked_s - start_s;
    waited_ns = 700500000000;
    bc_sleep_ns(20000000);
    bc_contention_look(&contention, NULL);
    const double second_start_s = contention.looked_s;
    bc_sleep_ns(10000000);
    waited_ns = 700505000000;
    bc_contention_look(&contention, &waits);
    assert_near(waits.waited_s, 0.015, 1e-9);
    assert_near(waits.seconds, first_s + contention.looked_s - second_start_s, 1e-9);
    assert_false(waits.unknown);
    /* A visit without counts makes the row's unknown. */
    waited_ns = -1;
    bc_contention_look(&contention, &waits);
    waited_ns = 700505000000;
    bc_contention_look(&contention, NULL);
    bc_contention_look(&contention, &waits);
    assert_true(waits.unknown);
}

const struct test_program test_program = {.mpi = true};
