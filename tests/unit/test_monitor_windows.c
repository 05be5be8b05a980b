/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of one-sided operations whose starts and ends the test sets, and destinations of messages.
 * Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/lib/count/windows.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- stand-ins for other modules ------------------------------------------------------------- */

struct handle_map communicator_records;

struct communicator communicators[COMMUNICATORS_KNOWN];

int communicator_index(MPI_Comm comm) { return OTHER_COMMUNICATORS; }

int32_t rank_peer_ask(int communicator, int rank) { return PEER_NONE; }

void communicator_hold(int communicator) { (void)communicator; }

void communicator_release(int communicator) { (void)communicator; }

void services_read(struct services *services) { (void)services; }

bool ticks_are_tsc;

double ticks_ns(void) { return 1.0; }

/* ---- puts ------------------------------------------------------------------------------------ */

enum { STARTS = 4, TARGET = 3, END = 10000 };

static const uint64_t starts[STARTS] = {1000, 1700, 4000, 4001};

/* A handle may have any value. */
static MPI_Win win;

static struct snapshot *snapshot;

static bool start_snapshot(void)
{
    const MPIX_Monitor asked = {.profile = 1, .pttopt = 1, .sizes = 1};
    snapshot = snapshot_create(&asked, NULL);
    return snapshot != NULL && snapshot_start(snapshot);
}

static int set_up(void **state)
{
    monitor_lock_needed = false;
    win = MPI_WIN_NULL;
    window_created(win, MPI_COMM_NULL);
    return !start_snapshot();
}

static int tear_down(void **state)
{
    snapshot_stop(snapshot);
    snapshot_free(snapshot);
    return 0;
}

static struct operation put_at(uint64_t start_ticks)
{
    return (struct operation){.start_ticks = start_ticks,
                              .thread = &inside,
                              .computing_ticks = start_ticks,
                              .epoch = snapshot->epoch,
                              .communicator = OTHER_COMMUNICATORS,
                              .kind = OPERATION_Put,
                              .posted = true};
}

/* Ends the puts that are in flight. */
static void end_puts(const struct mpi_call *call, uint64_t end_ticks)
{
    const struct ending ending = window_take(win, TARGET, false);
    (void)ending_finish(&ending, MPI_SUCCESS, call, end_ticks);
}

static struct count *count_of_puts(void)
{
    return &snapshot->communicators[OTHER_COMMUNICATORS].operation[OPERATION_Put];
}

/* Adds puts in this order of their starts, ends them together and checks the counts. */
static void puts_in_order(const int order[STARTS])
{
    double total = 0.0;
    *count_of_puts() = (struct count){0};
    for (int i = 0; i < STARTS; i++) {
        const struct operation put = put_at(starts[order[i]]);
        window_add(win, TARGET, &put);
        total += (double)(END - starts[i]);
    }
    end_puts(NULL, END);
    assert_int_equal(count_of_puts()->completed, STARTS);
    assert_near(count_of_puts()->total_ticks, total, 0.0);
    assert_int_equal(count_of_puts()->max_ticks, END - starts[0]);
}

/* Each thread reads the clock, puts and adds its put, so the order of adding may differ from the
   order of starts. */
TEST(threads_add_in_any_order)
{
    puts_in_order((const int[]){0, 1, 2, 3});
    puts_in_order((const int[]){3, 2, 1, 0});
    puts_in_order((const int[]){2, 0, 3, 1});
}

/* Two of the puts take longer than the second snapshot allows; the first one allows any time. */
TEST(each_snapshot_has_its_timeout)
{
    const MPIX_Monitor asked = {.profile = 1, .pttopt = 1, .timeout_us = 7.0};
    struct snapshot *const first = snapshot;
    snapshot = snapshot_create(&asked, NULL);
    assert_true(snapshot != NULL && snapshot_start(snapshot));
    puts_in_order((const int[]){0, 1, 2, 3});
    assert_int_equal(count_of_puts()->timeouts, 2);
    (void)tear_down(NULL);
    snapshot = first;
    assert_int_equal(count_of_puts()->timeouts, 0);
}

/* ---- sums that no integer holds -------------------------------------------------------------- */

/* Adds `count` puts that start and compute `apart` ticks one after the other. */
static void add_puts(int64_t count, uint64_t apart)
{
    for (int64_t i = 0; i < count; i++) {
        const struct operation put = put_at(1 + (uint64_t)i * apart);
        window_add(win, TARGET, &put);
    }
}

static struct size_amounts amounts_of_puts(void)
{
    for (int i = 0; i < 1 << SIZE_COUNTS_BITS; i++)
        if (snapshot->sizes.counts[i].key != 0)
            return snapshot->sizes.counts[i].amounts;
    fail();
    return (struct size_amounts){0};
}

/* A million puts in flight for an hour or so: their times and their number are multiplied. */
TEST(many_puts_for_a_long_time)
{
    enum { PUTS = 1000000 };
    const uint64_t apart = 20000000, end = UINT64_C(1) << 46;
    const double last = (double)PUTS - 1, all = PUTS * ((double)end - 1 - last / 2 * (double)apart);
    const struct mpi_call call = {.computing_ticks = end, .is_outermost = true};
    assert_true(PUTS > UINT64_MAX / end);
    add_puts(PUTS, apart);
    end_puts(&call, end);
    assert_int_equal(count_of_puts()->completed, PUTS);
    assert_near(count_of_puts()->total_ticks / all, 1.0, 1e-9);
    assert_near(amounts_of_puts().total_ticks / all, 1.0, 1e-9);
    assert_near(amounts_of_puts().computed_ticks / all, 1.0, 1e-9);
}

/* The cost of measuring is subtracted from each put, but a sum is never below 0. */
TEST(puts_that_took_no_time)
{
    inside_own.posted = 100;
    add_puts(2, 10);
    end_puts(NULL, 50);
    inside_own.posted = 0;
    assert_near(count_of_puts()->total_ticks, 0.0, 0.0);
    assert_near(amounts_of_puts().total_ticks, 0.0, 0.0);
}

/* ---- destinations of messages ---------------------------------------------------------------- */

enum { DESTINATIONS_MAX = 3 << (DESTINATIONS_BITS - 2) };

/* Sends in a burst. True if an operation of this kind went to this rank in it before. */
static bool sends_again(int communicator, int kind, int to, uint64_t burst)
{
    struct operation operation;
    between_burst = burst;
    operation_begin_at(&operation, (enum operation_kind)kind, communicator,
                       (struct sent){.bytes = 1, .size = SIZE_OF_MESSAGE_TO(to)}, false);
    (void)inside_leave(operation.is_outermost, ticks_now());
    return operation.joinable;
}

static int neighbours(int communicator, int kind)
{
    return snapshot->communicators[communicator].operation[kind].neighbours;
}

TEST(destinations_are_told_apart)
{
    static const int keys[][3] = {{1, 2, 3},
                                  {0, 2, 3},
                                  {1, 0, 3},
                                  {1, 2, 0},
                                  {2, 1, 3},
                                  {3, 2, 1},
                                  {0, 0, 0},
                                  {1, 3, 3},
                                  {1, 2, 0x10003},
                                  {0, 66, 3},
                                  {COMMUNICATORS_MAX - 1, OPERATIONS - 1, 0x7fffffff}};
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_false(sends_again(keys[i][0], keys[i][1], keys[i][2], 1));
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_true(sends_again(keys[i][0], keys[i][1], keys[i][2], 1));
    assert_int_equal(snapshot->destinations.used, COUNT(keys));
}

TEST(destinations_without_room)
{
    for (int i = 0; i < DESTINATIONS_MAX; i++)
        assert_false(sends_again(1, 2, i, 1));
    assert_false(sends_again(1, 2, DESTINATIONS_MAX, 1));
    assert_false(sends_again(1, 2, DESTINATIONS_MAX, 1));
    assert_int_equal(neighbours(1, 2), DESTINATIONS_MAX);
    assert_false(sends_again(1, 2, 0, 2));
    assert_true(sends_again(1, 2, 0, 2));
    assert_int_equal(neighbours(1, 2), DESTINATIONS_MAX);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
