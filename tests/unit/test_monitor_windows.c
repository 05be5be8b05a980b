/*
 * The times of one-sided operations whose starts and ends the test sets. Calls no MPI function.
 */
#include "helpers.h"

#include "monitor/lib/count/windows.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- stand-ins for other modules ------------------------------------------------------------- */

struct handle_map communicator_records;

struct communicator communicators[COMMUNICATORS_KNOWN];

int communicator_index(MPI_Comm comm) { return OTHER_COMMUNICATORS; }

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

static void swap(int *a, int *b)
{
    const int kept = *a;
    *a = *b;
    *b = kept;
}

/* Tests all orders that share the first `fixed` elements of this one. */
static void puts_in_all_orders(int order[STARTS], int fixed)
{
    if (fixed == STARTS)
        puts_in_order(order);
    for (int i = fixed; i < STARTS; i++) {
        swap(&order[fixed], &order[i]);
        puts_in_all_orders(order, fixed + 1);
        swap(&order[fixed], &order[i]);
    }
}

/* Each thread reads the clock, puts and adds its put, so the order of adding may differ from the
   order of starts. */
TEST(threads_add_in_any_order)
{
    int order[STARTS] = {0, 1, 2, 3};
    puts_in_all_orders(order, 0);
}

/* ---- sums that no integer holds -------------------------------------------------------------- */

/* Adds `count` puts that start and compute `apart` ticks one after the other, without a start each.
 */
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

/* What measuring adds comes off each put, but a sum is never below 0. */
TEST(puts_that_took_no_time)
{
    inside_own.posted = 100;
    add_puts(2, 10);
    end_puts(NULL, 50);
    inside_own.posted = 0;
    assert_near(count_of_puts()->total_ticks, 0.0, 0.0);
    assert_near(amounts_of_puts().total_ticks, 0.0, 0.0);
}

/* ---- windows that find no room --------------------------------------------------------------- */

enum { ROOM = 768, WITHOUT = 5 };

static MPI_Win win_of(int number)
{
    MPI_Win made;
    memset(&made, 0, sizeof made);
    memcpy(&made, &number, sizeof number);
    return made;
}

static int64_t unknown_in_next_snapshot(void)
{
    (void)tear_down(NULL);
    (void)start_snapshot();
    return snapshot->cases[MPIX_MONITOR_WARNING_UNKNOWN];
}

/* Snapshots say how many there are, be they made before or in them, and forget those that were
   freed. */
TEST(windows_without_room)
{
    for (int i = 1; i < ROOM + WITHOUT; i++) /* and `win` */
        window_created(win_of(i), MPI_COMM_NULL);
    assert_int_equal(snapshot->cases[MPIX_MONITOR_WARNING_UNKNOWN], WITHOUT);
    assert_int_equal(unknown_in_next_snapshot(), WITHOUT);
    for (int i = ROOM + WITHOUT - 1; i > 0; i--)
        window_freed(win_of(i), window_take(win_of(i), EVERY_TARGET, false).window);
    assert_int_equal(snapshot->cases[MPIX_MONITOR_WARNING_UNKNOWN], WITHOUT);
    assert_int_equal(unknown_in_next_snapshot(), 0);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
