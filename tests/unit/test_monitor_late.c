/* SPDX-License-Identifier: BSD-3-Clause */
/* Late processes: the calls that are kept, and their comparison. Run on 1 and 3 ranks. */
#include "ranks.h"

#include "monitor/lib/report/compare.h"

#include <stdlib.h>

/* No series here is rooted. */
double common_clock_ns(uint64_t ticks)
{
    fail();
    return 0.0;
}

double common_clock_error_ns(uint64_t ticks)
{
    fail();
    return 0.0;
}

static struct late *make(void)
{
    struct late *const late = calloc(1, sizeof *late);
    assert_non_null(late);
    return late;
}

/* Adds a call in which this rank has this part. */
static bool add_part(struct late *late, int kind, uint64_t ticks, enum late_part part)
{
    return late_add(late, 1, kind, (struct late_call){.ticks = ticks, .part = part});
}

static bool add(struct late *late, uint64_t ticks) { return add_part(late, 2, ticks, LATE_MEMBER); }

/* ---- keeping --------------------------------------------------------------------------------- */

/* All calls are kept while they fit. Of more calls, those kept use a quarter of the room or more,
   are spread evenly, and keep their entries. */
TEST(calls_are_kept_evenly)
{
    enum { CALLS = 1000000, TENTHS = 10 };
    struct late *const late = make();
    const struct late_series *const series = &late->series[0];
    int of_tenth[TENTHS] = {0};
    for (int64_t i = 0; i < CALLS; i++) {
        const struct late_call call = {.ticks = (uint64_t)(3 * i),
                                       .entered = (uint64_t)(7 * i),
                                       .part = i % 3 == 0 ? LATE_ROOT : LATE_INDEPENDENT};
        assert_true(late_add(late, 1, 2, call));
        assert_true(i >= LATE_KEPT_MAX || series->kept == i + 1);
    }
    assert_int_equal(series->calls, CALLS);
    assert_int_equal(series->of_part[LATE_ROOT].calls, (CALLS + 2) / 3);
    assert_int_equal(series->of_part[LATE_INDEPENDENT].calls, CALLS - (CALLS + 2) / 3);
    assert_true(series->kept > LATE_KEPT_MAX / 4 && series->kept <= LATE_KEPT_MAX);
    for (int i = 0; i < series->kept; i++) {
        const struct late_call *const call = &series->call[i];
        assert_int_equal(call->ticks, 3 * call->number);
        assert_int_equal(call->entered, 7 * call->number);
        assert_int_equal(call->part, call->number % 3 == 0 ? LATE_ROOT : LATE_INDEPENDENT);
        assert_true(i == 0 || call->number > series->call[i - 1].number);
        of_tenth[call->number / (CALLS / TENTHS)]++;
    }
    const double expected = (double)series->kept / TENTHS;
    for (int i = 0; i < TENTHS; i++)
        assert_near(of_tenth[i], expected, 0.35 * expected);
    free(late);
}

TEST(each_function_and_communicator_is_a_series)
{
    struct late *const late = make();
    const struct late_call call = {.ticks = 1, .part = LATE_MEMBER};
    for (int i = 0; i < LATE_SERIES_MAX; i++)
        assert_true(late_add(late, i / 2, i % 2, call));
    assert_false(late_add(late, LATE_SERIES_MAX, 0, call));
    assert_true(late_add(late, 3, 1, call));
    assert_int_equal(late->series[7].calls, 2);
    assert_int_equal(late->count, LATE_SERIES_MAX);
    free(late);
}

/* ---- comparing ------------------------------------------------------------------------------- */

enum { KEY = 77 };

/* Compares this rank's only series, if it has any, whose ticks have this length. */
static struct late_waiting compare(const struct late *late, int processes, double tick_ns)
{
    const struct late_item item = {.key = KEY, .processes = processes, .series = late->series};
    struct late_waiting waiting = {.is_known = false};
    late_compare(late->count, &item, tick_ns, MPI_COMM_WORLD, &waiting);
    return waiting;
}

/* Ranks outside of the communicator take part without a series. */
TEST(ranks_without_the_series)
{
    struct late *const late = make();
    const int members = ranks < 2 ? ranks : 2;
    for (int i = 0; i < 10 && rank < 2; i++)
        (void)add(late, rank == 0 ? 300 : 100);
    struct late_waiting waiting = compare(late, members, 1.0);
    assert_int_equal(waiting.is_known, rank < 2);
    assert_near(waiting.mean_ns, rank == 0 && ranks > 1 ? 200.0 : 0.0, 1e-9);
    /* Unknown unless all processes of the communicator have it. */
    waiting = compare(late, members + 1, 1.0);
    assert_false(waiting.is_known);
    free(late);
}

/* Each rank's ticks have another length; all calls take as long. */
TEST(ticks_may_differ)
{
    struct late *const late = make();
    for (int i = 0; i < 10; i++)
        (void)add(late, UINT64_C(1000) << rank);
    const struct late_waiting waiting = compare(late, ranks, 1.0 / (1 << rank));
    assert_true(waiting.is_known);
    assert_near(waiting.mean_ns, 0.0, 1e-9);
    assert_near(waiting.hi_ns, 1000.0, 1e-9);
    assert_int_equal(waiting.came_last, rank == 0 ? 10 : 0); /* the lowest of equal ranks */
    free(late);
}

/* In a call in which a rank needs nothing of the others, nobody waits. If that is so in all calls,
   the waiting is unknown. */
TEST(who_needs_nothing_tells_no_waiting)
{
    struct late *const late = make();
    struct late *const nothing = make();
    for (int i = 0; i < 8; i++) {
        const bool apart = i % 4 == 0 && rank == ranks - 1;
        (void)add_part(late, 2, rank == 0 ? 900 : 100, apart ? LATE_INDEPENDENT : LATE_MEMBER);
        (void)add_part(nothing, 2, 100, rank == 0 ? LATE_INDEPENDENT : LATE_MEMBER);
    }
    const struct late_waiting waiting = compare(late, ranks, 1.0);
    assert_true(waiting.is_known);
    assert_near(waiting.mean_ns, rank == 0 && ranks > 1 ? 800.0 * 6 / 8 : 0.0, 1e-9);
    assert_near(waiting.hi_ns - waiting.mean_ns, (ranks > 1 ? 100.0 : 900.0) * 6 / 8, 1e-9);
    assert_false(compare(nothing, ranks, 1.0).is_known);
    free(late);
    free(nothing);
}

/* The waiting is unknown if ranks have different numbers of calls, without harm to the next series.
   Ranks may have different series. */
TEST(series_are_compared_one_after_the_other)
{
    struct late *const late[2] = {make(), make()};
    struct late_waiting waiting[2];
    for (int i = 0; i < 10 + (rank == 1); i++)
        (void)add(late[0], 100);
    for (int i = 0; i < 20; i++)
        (void)add(late[1], rank == 0 ? 100 : 150);
    const struct late_item items[] = {{.key = 3, .processes = ranks, .series = late[0]->series},
                                      {.key = 5, .processes = ranks, .series = late[1]->series}};
    late_compare(2, items, 1.0, MPI_COMM_WORLD, waiting);
    assert_int_equal(waiting[0].is_known, ranks < 2);
    assert_true(waiting[1].is_known);
    assert_near(waiting[1].mean_ns, rank == 0 ? 0.0 : 50.0, 1e-9);
    /* A series of all ranks, and one of each rank alone, whose key comes before. */
    const struct late_item own[] = {
        {.key = 3 + 2 * rank, .processes = 1, .series = late[0]->series},
        {.key = 100, .processes = ranks, .series = late[1]->series}};
    late_compare(2, own, 1.0, MPI_COMM_WORLD, waiting);
    assert_true(waiting[0].is_known && waiting[1].is_known);
    assert_near(waiting[0].mean_ns, 0.0, 1e-9);
    assert_near(waiting[1].mean_ns, rank == 0 ? 0.0 : 50.0, 1e-9);
    free(late[0]);
    free(late[1]);
}

/* The mean of the kept calls is moved by the additional time of all calls. */
TEST(a_mean_goes_with_the_time_of_all_calls)
{
    enum { KEPT = 4 };
    static const double waits[KEPT] = {1.0, 2.0, 3.0, 6.0};
    struct late *const late = make();
    struct late_series *const series = &late->series[0];
    for (int i = 0; i < KEPT; i++)
        (void)add(late, 10 * (uint64_t)waits[i] + 5);
    struct late_mean mean = late_mean(series, waits, LATE_MEMBER, 1.0);
    assert_near(mean.mean, 3.0, 1e-12);
    assert_near(mean.error, 0.0, 1e-12);
    assert_near(mean.shift, 0.0, 1e-12);
    /* The same number of calls that weren't kept, each 20 ticks longer than the mean of 35. */
    series->calls += KEPT;
    series->of_part[LATE_MEMBER].calls += KEPT;
    series->of_part[LATE_MEMBER].ticks += KEPT * 55;
    mean = late_mean(series, waits, LATE_MEMBER, 1.0);
    assert_near(mean.mean, 4.0, 1e-12);
    assert_near(mean.error, 0.0, 1e-6);
    assert_near(mean.shift, 1.0, 1e-12);
    /* Times that are all equal don't move the mean. */
    for (int i = 0; i < KEPT; i++)
        series->call[i].ticks = 55;
    mean = late_mean(series, waits, LATE_MEMBER, 1.0);
    assert_near(mean.mean, 3.0, 1e-12);
    assert_near(mean.error, sqrt(14.0 / 2.0 / KEPT * 0.5), 1e-12);
    free(late);
}

/* The times of calls of the other part don't matter, their number does. */
TEST(a_rank_waits_in_one_part)
{
    enum { KEPT = 8 };
    static const double waits[KEPT] = {1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 6.0, 0.0};
    struct late *const late = make();
    struct late_series *const series = &late->series[0];
    for (int i = 0; i < KEPT; i++)
        (void)add_part(late, 2, i % 2 == 1 ? 777 : 10 * (uint64_t)waits[i] + 5,
                       i % 2 == 1 ? LATE_ROOT : LATE_MEMBER);
    assert_near(late_mean(series, waits, LATE_MEMBER, 1.0).mean, 1.5, 1e-12);
    /* 12 more, of which 4 are of the part, each 20 ticks longer than the mean of 35. */
    series->calls += 12;
    series->of_part[LATE_MEMBER].calls += 4;
    series->of_part[LATE_MEMBER].ticks += UINT64_C(4) * 55;
    series->of_part[LATE_ROOT].calls += 8;
    series->of_part[LATE_ROOT].ticks += 8000000;
    const struct late_mean mean = late_mean(series, waits, LATE_MEMBER, 1.0);
    assert_near(mean.mean, 8.0 / 20.0 * 4.0, 1e-12);
    assert_near(mean.shift, mean.mean - 1.5, 1e-12);
    assert_near(mean.error, 0.0, 1e-6);
    free(late);
}

const struct test_program test_program = {.mpi = true};
