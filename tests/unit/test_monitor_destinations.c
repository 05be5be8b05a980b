/*
 * Destinations of messages, and which of them had one in the same burst. Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/lib/count/operations.h"

/* ---- stand-ins for other modules ------------------------------------------------------------- */

struct handle_map communicator_records;

struct communicator communicators[COMMUNICATORS_KNOWN];

int communicator_index(MPI_Comm comm) { return OTHER_COMMUNICATORS; }

void communicator_hold(int communicator) { (void)communicator; }

void communicator_release(int communicator) { (void)communicator; }

void services_read(struct services *services) { (void)services; }

bool ticks_are_tsc;

double ticks_ns(void) { return 1.0; }

/* ---- messages -------------------------------------------------------------------------------- */

enum { DESTINATIONS_MAX = 3 << (DESTINATIONS_BITS - 2) };

static struct snapshot *snapshot;

static int set_up(void **state)
{
    const MPIX_Monitor asked = {.profile = 1, .pttopt = 1, .sizes = 1};
    monitor_lock_needed = false;
    snapshot = snapshot_create(&asked, NULL);
    return snapshot == NULL || !snapshot_start(snapshot);
}

static int tear_down(void **state)
{
    snapshot_stop(snapshot);
    snapshot_free(snapshot);
    return 0;
}

/* Sends in a burst. Whether something went to this rank in it before. */
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

TEST(a_burst_ends)
{
    assert_false(sends_again(1, 2, 3, 10));
    assert_true(sends_again(1, 2, 3, 10));
    assert_false(sends_again(1, 2, 3, 11));
    assert_true(sends_again(1, 2, 3, 11));
    assert_int_equal(neighbours(1, 2), 1);
    /* Other messages between don't matter. */
    assert_false(sends_again(1, 2, 4, 11));
    assert_true(sends_again(1, 2, 3, 11));
    assert_int_equal(neighbours(1, 2), 2);
}

TEST(who_and_how_tells_them_apart)
{
    static const int keys[][3] = {
        {1, 2, 3}, {0, 2, 3}, {1, 0, 3}, {1, 2, 0},
        {2, 1, 3}, {3, 2, 1}, {0, 0, 0}, {COMMUNICATORS_MAX - 1, OPERATIONS - 1, 0x7fffffff}};
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_false(sends_again(keys[i][0], keys[i][1], keys[i][2], 1));
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_true(sends_again(keys[i][0], keys[i][1], keys[i][2], 1));
    assert_int_equal(snapshot->destinations.used, COUNT(keys));
}

TEST(a_table_that_is_full)
{
    for (int i = 0; i < DESTINATIONS_MAX; i++)
        assert_false(sends_again(1, 2, i, 1));
    assert_false(sends_again(1, 2, DESTINATIONS_MAX, 1));
    assert_false(sends_again(1, 2, DESTINATIONS_MAX, 1));
    assert_int_equal(neighbours(1, 2), DESTINATIONS_MAX);
    assert_false(sends_again(1, 2, 0, 2));
    assert_true(sends_again(1, 2, 0, 2));
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
