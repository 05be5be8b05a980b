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

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
