/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread loses while it is stopped, by a clock that is made up. What the machine's own stops
 * take is shown by tests/machine/stops.c.
 */
#include "helpers.h"

#include "common/clock/clock.h"
#include "common/clock/stops.h"

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

TEST(gaps_are_lost)
{
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
TEST(short_gaps_are_not)
{
    assert_int_equal(watch_script(25, BC_STOP_NS - 25).lost_ns, 0);
    assert_int_equal(watch_script(25, BC_STOP_NS - 24).lost_ns, script.gaps * (BC_STOP_NS - 24));
    assert_int_equal(watch_script(100, 900).lost_ns, 0);
    assert_int_equal(watch_script(100, 901).lost_ns, script.gaps * 901);
}

TEST(watches_add_up)
{
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
