/*
 * What a rank lost to others: from known numbers, in virtual time.
 */
#include "helpers.h"
#include "streams.h"

#include "common/clock/source.h"
#include "common/machine/contention.h"

#include <unistd.h>

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

static double share_of(struct bc_waits waits) { return bc_waited_share(&waits); }

TEST(looks_are_from_one_to_the_next)
{
    char path[TEMPORARY_PATH_MAX];
    make_temporary(path);
    struct bc_contention contention;
    write_text(path, "1 700000000000 3\n");
    bc_contention_begin(&contention, path);
    assert_near(share_of(look(&contention)), 0.0, 0.0);
    bc_sleep_ns(20000000);
    write_text(path, "1 700010000000 3\n");
    assert_near(share_of(look(&contention)), 0.5, 1e-3);
    assert_near(share_of(look(&contention)), 0.0, 0.0);
    /* A text without numbers means no wait. */
    write_text(path, "nothing\n");
    const struct bc_waits unknown = look(&contention);
    assert_near(share_of(unknown), 0.0, 0.0);
    assert_true(unknown.unknown);
    unlink(path);
}

/* The waits of two visits add up; what happens between the visits is nobody's. */
TEST(visits_add_up)
{
    char path[TEMPORARY_PATH_MAX];
    make_temporary(path);
    struct bc_contention contention;
    struct bc_waits waits = {.seconds = 0.0};
    write_text(path, "1 700000000000 3\n");
    bc_contention_begin(&contention, path);
    const double start_s = contention.looked_s;
    bc_sleep_ns(20000000);
    write_text(path, "1 700010000000 3\n");
    bc_contention_look(&contention, &waits);
    const double first_s = contention.looked_s - start_s;
    write_text(path, "1 700500000000 3\n");
    bc_sleep_ns(20000000);
    bc_contention_look(&contention, NULL);
    const double second_start_s = contention.looked_s;
    bc_sleep_ns(10000000);
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

const struct test_program test_program = {.mpi = true};
