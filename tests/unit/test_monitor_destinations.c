/*
 * What a snapshot that counts sizes keeps: operations by size, and destinations of messages, and
 * which of them had one in the same burst. Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/snapshot.h"

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
    assert_int_equal(snapshot->destinations_used, COUNT(keys));
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

/* ---- sizes ----------------------------------------------------------------------------------- */

TEST(classes_are_powers_of_two)
{
    static const struct {
        int64_t bytes;
        int class;
        int64_t from;
    } cases[] = {{-1, 0, 0},
                 {0, 0, 0},
                 {1, 1, 1},
                 {2, 2, 2},
                 {3, 2, 2},
                 {4, 3, 4},
                 {1023, 10, 512},
                 {1024, 11, 1024},
                 {1025, 11, 1024},
                 {INT64_C(1) << 40, 41, INT64_C(1) << 40},
                 {INT64_MAX, 63, INT64_C(1) << 62}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(size_class(cases[i].bytes), cases[i].class);
        assert_int_equal(size_of_class(cases[i].class), cases[i].from);
        assert_true(size_class(cases[i].bytes) < SIZE_CLASSES);
    }
}

static int64_t lost(void) { return snapshot->cases[MPIX_MONITOR_WARNING_UNSIZED]; }

static void add(int communicator, int kind, int class)
{
    const struct sized_kind of = {.epoch = snapshot->epoch,
                                  .communicator = (int16_t)communicator,
                                  .kind = (uint8_t)kind,
                                  .size_class = (uint8_t) class};
    const struct size_amounts two = {.completed = 2, .bytes = 1};
    snapshots_add_sizes(&of, &two);
}

/* More kinds of sizes than there is room for: those that are there go on counting. */
TEST(sizes_without_room_are_lost)
{
    int added = 0;
    for (int communicator = 0; communicator < 512; communicator++)
        for (int kind = 0; kind < 2; kind++)
            for (int class = 0; class < 10; class ++, added++)
                add(communicator, kind, class);
    assert_int_equal(snapshot->sizes_used, SIZE_COUNTS_MAX);
    assert_int_equal(lost(), 2 * (added - SIZE_COUNTS_MAX));
    add(0, 0, 0);
    assert_int_equal(lost(), 2 * (added - SIZE_COUNTS_MAX));
    int64_t completed = 0;
    for (int i = 0; i < 1 << SIZE_COUNTS_BITS; i++)
        completed += snapshot->sizes[i].amounts.completed;
    assert_int_equal(completed, 2 * (SIZE_COUNTS_MAX + 1));
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
