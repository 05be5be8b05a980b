/*
 * What a thread loses while it is stopped: by a clock that is made up, and by signals.
 */
#include "helpers.h"

#include "common/clock/clock.h"
#include "common/clock/stops.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

/* ---- a clock that is made up ----------------------------------------------------------------- */

static struct {
    int64_t now_ns, step_ns; /* between two readings */
    int64_t gap_ns;          /* what GAP_EVERY-th steps are longer by */
    int64_t readings, gaps;
} script;

#define GAP_EVERY 1000

static int64_t read_script(void)
{
    script.now_ns += script.step_ns;
    script.readings++;
    if (script.readings % GAP_EVERY == 0) {
        script.now_ns += script.gap_ns;
        script.gaps++;
    }
    return script.now_ns;
}

/* Watches for 5 ms by that clock. */
static struct bc_stops watch_script(int64_t step_ns, int64_t gap_ns)
{
    int64_t (*const real)(void) = bc_clock_read;
    struct bc_stops stops = {.watched_ns = 0};
    memset(&script, 0, sizeof script);
    script.step_ns = step_ns;
    script.gap_ns = gap_ns;
    bc_clock_read = read_script;
    bc_stops_watch(&stops, 5e-3);
    bc_clock_read = real;
    assert_true(script.gaps >= 3);
    return stops;
}

static void gaps_are_lost(void **state)
{
    (void)state;
    const struct bc_stops none = watch_script(25, 0);
    assert_int_equal(none.lost_ns, 0);
    /* Without what finding the usual step takes. */
    assert_in_range(none.watched_ns, 4900000, 5000000 + 25);
    const struct bc_stops some = watch_script(25, 10000);
    assert_int_equal(some.lost_ns, script.gaps * 10000);
    assert_in_range(some.watched_ns, 4900000, 5000000 + 10000 + 25);
    const struct bc_stops most = watch_script(25, 1000000);
    assert_int_equal(most.lost_ns, script.gaps * 1000000);
}

/* BC_STOP_NS, or ten steps of a slow clock. */
static void short_gaps_are_not(void **state)
{
    (void)state;
    assert_int_equal(watch_script(25, BC_STOP_NS - 25).lost_ns, 0);
    assert_int_equal(watch_script(25, BC_STOP_NS - 24).lost_ns, script.gaps * (BC_STOP_NS - 24));
    assert_int_equal(watch_script(100, 900).lost_ns, 0);
    assert_int_equal(watch_script(100, 901).lost_ns, script.gaps * 901);
}

static void watches_add_up(void **state)
{
    (void)state;
    int64_t (*const real)(void) = bc_clock_read;
    struct bc_stops stops = {.watched_ns = 7000, .lost_ns = 300};
    memset(&script, 0, sizeof script);
    script.step_ns = 25;
    script.gap_ns = 10000;
    bc_clock_read = read_script;
    bc_stops_watch(&stops, 1e-3);
    const int64_t lost_ns = 300 + script.gaps * 10000;
    const int64_t watched_ns = stops.watched_ns;
    const int64_t then_lost_ns = stops.lost_ns;
    bc_stops_watch(&stops, 1e-3);
    bc_clock_read = real;
    assert_int_equal(then_lost_ns, lost_ns);
    assert_int_equal(stops.lost_ns, 300 + script.gaps * 10000);
    assert_true(script.gaps * 10000 + 300 > lost_ns);
    assert_near((double)watched_ns, 7e3 + 1e6, 2e4);
    assert_near((double)stops.watched_ns, 7e3 + 2e6, 4e4);
}

/* ---- the real one ---------------------------------------------------------------------------- */

#define HANDLER_NS 100000
#define PERIOD_US 1000
#define WATCH_S 0.1

static volatile int64_t handled_ns; /* in handlers, by their own measurement */
static volatile int64_t longest_ns; /* of them */
static volatile int handled;        /* their number */

static void spin(int number)
{
    (void)number;
    const int64_t start_ns = bc_now_ns();
    int64_t now_ns = start_ns;
    while (now_ns - start_ns < HANDLER_NS)
        now_ns = bc_now_ns();
    handled_ns += now_ns - start_ns;
    if (now_ns - start_ns > longest_ns)
        longest_ns = now_ns - start_ns;
    handled++;
}

static struct bc_stops watch(void)
{
    struct bc_stops stops = {.watched_ns = 0};
    bc_stops_watch(&stops, WATCH_S);
    /* Finding the usual step comes before the watch, and a stop may end behind it. */
    assert_in_range(stops.watched_ns, 1, 1.001e9 * WATCH_S + (double)stops.lost_ns);
    assert_in_range(stops.lost_ns, 0, stops.watched_ns);
    return stops;
}

static void watches_by_the_real_clock(void **state)
{
    (void)state;
    watch();
}

/* The first and the last handler may run outside of the watch. Each stop is at least as long as its
   handler says. How much longer depends on the machine: see tests/this_machine/stops.c. */
static void stopped_threads_lose_what_the_handler_takes(void **state)
{
    (void)state;
    const struct sigaction action = {.sa_handler = spin, .sa_flags = SA_RESTART};
    const struct itimerval period = {{0, PERIOD_US}, {0, PERIOD_US}}, never = {{0, 0}, {0, 0}};
    struct sigaction before;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    setitimer(ITIMER_REAL, &period, NULL);
    const struct bc_stops stopped = watch();
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    assert_true(handled > 2);
    assert_true(stopped.lost_ns >= handled_ns - 2 * longest_ns);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gaps_are_lost),
    cmocka_unit_test(short_gaps_are_not),
    cmocka_unit_test(watches_add_up),
    cmocka_unit_test(watches_by_the_real_clock),
    cmocka_unit_test(stopped_threads_lose_what_the_handler_takes),
};
const struct test_program test_program = {.name = "stops", .tests = tests, .count = COUNT(tests)};
