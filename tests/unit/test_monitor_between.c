/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computation after calls, calls that could have been part of an earlier one, and time inside MPI.
 * The test sets the clock. Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/lib/count/between.h"

/* ---- stand-ins for other modules ------------------------------------------------------------- */

#define TICK_NS 0.5

double ticks_ns(void) { return TICK_NS; }

bool ticks_are_tsc;

static struct {
    struct sized_kind which;
    uint64_t after_ticks;
} added[32];
static int added_count;

void snapshots_add_sizes(const struct sized_kind *which, const struct size_amounts *amounts)
{
    assert_true(added_count < (int)COUNT(added));
    added[added_count].which = *which;
    added[added_count++].after_ticks = amounts->after_ticks;
}

/* Leaves a call that was entered at this time on the computing clock. */
static void call_left_at(uint64_t computing_ticks)
{
    inside.computing_ticks = computing_ticks;
    between_call_left();
}

static int set_up(void **state)
{
    between_start();
    call_left_at(1000);
    added_count = 0;
    return 0;
}

static struct sized_kind some(enum operation_kind kind, int size_class)
{
    return (struct sized_kind){
        .epoch = 3, .communicator = 1, .kind = (uint8_t)kind, .size_class = (uint8_t)size_class};
}

/* ---- computation after calls ----------------------------------------------------------------- */

TEST(operations_that_differ_have_a_part_each)
{
    struct sized_kind kinds[5];
    for (size_t i = 0; i < COUNT(kinds); i++)
        kinds[i] = some(OPERATION_Irecv, 4);
    kinds[1].size_class++;
    kinds[2].epoch++;
    kinds[3].communicator++;
    kinds[4].kind = OPERATION_Isend;
    for (size_t i = 0; i < COUNT(kinds); i++)
        between_settle(&kinds[i], 1, true);
    call_left_at(1500);
    assert_int_equal(added_count, COUNT(kinds));
    for (int i = 0; i < added_count; i++)
        assert_int_equal(added[i].after_ticks, 100);
}

/* Operations without room get a part, too, which counts nowhere. */
TEST(more_kinds_than_have_room)
{
    for (int i = 0; i < SETTLED_MAX + 4; i++) {
        const struct sized_kind kind = some(OPERATION_Irecv, i);
        between_settle(&kind, 1, true);
    }
    call_left_at(1000 + 10 * (SETTLED_MAX + 4));
    assert_int_equal(added_count, SETTLED_MAX);
    for (int i = 0; i < added_count; i++)
        assert_int_equal(added[i].after_ticks, 10);
}

/* ---- joinable collectives -------------------------------------------------------------------- */

/* Leaves a call of an operation, without time of its own, after these ticks of computation. */
static bool is_joinable(enum operation_kind kind, int communicator, uint64_t ticks)
{
    static uint64_t now = 100000;
    now += ticks;
    inside.computing_ticks = now;
    return between_operation_left(kind, communicator);
}

TEST(collectives_that_follow_one_of_their_kind)
{
    const uint64_t limit = (uint64_t)(JOINABLE_NS / TICK_NS);
    assert_false(is_joinable(OPERATION_Allreduce, 1, 0));
    assert_true(is_joinable(OPERATION_Allreduce, 1, limit - 1));
    assert_false(is_joinable(OPERATION_Allreduce, 1, limit));
    assert_false(is_joinable(OPERATION_Allreduce, 2, 0));
    assert_false(is_joinable(OPERATION_Barrier, 2, 0));
    assert_false(is_joinable(OPERATION_Allreduce, 2, 0));
    assert_true(is_joinable(OPERATION_Allreduce, 2, 0));
    /* A call of another kind is between. */
    between_call_left();
    assert_false(is_joinable(OPERATION_Allreduce, 2, 0));
}

/* ---- time inside ----------------------------------------------------------------------------- */

enum { BEFORE = 3, AFTER = 12 };

/* A call whose clock is read at `entry` and `exit`. Returns its time inside. */
static uint64_t call_of(uint64_t entry, uint64_t exit)
{
    const bool is_outermost = inside_enter(entry - BEFORE);
    return inside_leave(is_outermost, exit + AFTER);
}

/* The monitor's work around a call belongs to the call, but no time belongs to two calls. */
TEST(time_between_calls_is_that_of_one)
{
    (void)call_of(1000, 1100);
    const uint64_t computed = inside.computing_ticks;
    assert_int_equal(call_of(1612, 1700), BEFORE + 88 + AFTER);
    assert_int_equal(inside.computing_ticks - computed, 1612 - BEFORE - 1100 - AFTER);
    assert_int_equal(call_of(1705, 1800), 1800 + AFTER - (1700 + AFTER));
    assert_int_equal(call_of(1815, 1900), 100);
    assert_int_equal(inside.computing_ticks - computed, 1612 - BEFORE - 1100 - AFTER);
}

/* A thread is behind files until it has computed longer than they took, or communicates. */
TEST(behind_files)
{
    (void)call_of(3000, 3100);
    inside_follow_files(false, 100);
    assert_false(inside_is_behind_files());
    (void)call_of(4000, 4100);
    inside_follow_files(true, 100);
    inside.computing_ticks += 60;
    inside_follow_files(true, 10);
    assert_true(inside_is_behind_files());
    inside.computing_ticks += 50;
    assert_false(inside_is_behind_files());
    inside_follow_files(true, 1);
    assert_true(inside_is_behind_files());
    inside_follow_files(false, 100);
    assert_false(inside_is_behind_files());
}

const struct test_program test_program = {.before_each = set_up};
