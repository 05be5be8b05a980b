/*
 * Late processes: which calls are kept, and what ranks say together. Run on 1 and 3 ranks.
 */
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

TEST(all_calls_are_kept_while_they_fit)
{
    struct late *const late = make();
    for (int i = 0; i < LATE_KEPT_MAX; i++)
        assert_true(add(late, (uint64_t)i));
    const struct late_series *const series = &late->series[0];
    assert_int_equal(series->calls, LATE_KEPT_MAX);
    assert_int_equal(series->kept, LATE_KEPT_MAX);
    for (int i = 0; i < LATE_KEPT_MAX; i++) {
        assert_int_equal(series->call[i].number, i);
        assert_int_equal(series->call[i].ticks, i);
    }
    free(late);
}

/* However many there are, at least a quarter of what fits is kept, as much of each tenth. */
TEST(calls_are_kept_evenly)
{
    enum { CALLS = 1000000, PARTS = 10 };
    struct late *const late = make();
    const struct late_series *const series = &late->series[0];
    int of_part[PARTS] = {0};
    for (int64_t i = 0; i < CALLS; i++)
        assert_true(add(late, (uint64_t)(3 * i)));
    assert_int_equal(series->calls, CALLS);
    assert_true(series->kept > LATE_KEPT_MAX / 4 && series->kept <= LATE_KEPT_MAX);
    for (int i = 0; i < series->kept; i++) {
        assert_int_equal(series->call[i].ticks, 3 * series->call[i].number);
        assert_true(i == 0 || series->call[i].number > series->call[i - 1].number);
        of_part[series->call[i].number / (CALLS / PARTS)]++;
    }
    const double expected = (double)series->kept / PARTS;
    for (int i = 0; i < PARTS; i++)
        assert_near(of_part[i], expected, 0.35 * expected);
    free(late);
}

/* What is said of a call stays with it, and series don't touch each other. */
TEST(calls_keep_their_entries)
{
    enum { CALLS = 100000 };
    struct late *const late = make();
    const struct late_series *const series = &late->series[0], *const other = &late->series[1];
    for (int64_t i = 0; i < CALLS; i++) {
        const struct late_call call = {.ticks = (uint64_t)(3 * i),
                                       .entered = (uint64_t)(7 * i),
                                       .part = i % 3 == 0 ? LATE_ROOT : LATE_INDEPENDENT};
        assert_true(late_add(late, 1, 2, call));
        assert_true(add_part(late, 3, (uint64_t)(3 * i), LATE_MEMBER));
    }
    assert_true(series->kept > LATE_KEPT_MAX / 4);
    assert_int_equal(series->kept, other->kept);
    assert_int_equal(series->of_part[LATE_ROOT].calls, (CALLS + 2) / 3);
    assert_int_equal(series->of_part[LATE_INDEPENDENT].calls, CALLS - (CALLS + 2) / 3);
    for (int i = 0; i < series->kept; i++) {
        const int64_t number = series->call[i].number;
        assert_int_equal(number, other->call[i].number);
        assert_int_equal(series->call[i].ticks, 3 * number);
        assert_int_equal(series->call[i].entered, 7 * number);
        assert_int_equal(series->call[i].part, number % 3 == 0 ? LATE_ROOT : LATE_INDEPENDENT);
        assert_int_equal(other->call[i].part, LATE_MEMBER);
    }
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

/* In call i rank i % ranks comes last and takes 100, others wait 50 for each place before it. */
static uint64_t waited(int call, int who)
{
    return 50 * (uint64_t)((who - call % ranks + ranks) % ranks);
}

enum { KEY = 77 };

/* Compares this rank's only series, if it has any, whose ticks have this length. */
static struct late_waiting compare(const struct late *late, int processes, double tick_ns)
{
    const struct late_item item = {.key = KEY, .processes = processes, .series = late->series};
    struct late_waiting waiting = {.is_known = false};
    late_compare(late->count, &item, tick_ns, MPI_COMM_WORLD, &waiting);
    return waiting;
}

/* Ranks outside of the communicator take part, and say nothing. */
TEST(ranks_without_the_series)
{
    struct late *const late = make();
    const int members = ranks < 2 ? ranks : 2;
    for (int i = 0; i < 10 && rank < 2; i++)
        (void)add(late, rank == 0 ? 300 : 100);
    struct late_waiting waiting = compare(late, members, 1.0);
    assert_int_equal(waiting.is_known, rank < 2);
    assert_near(waiting.mean_ns, rank == 0 && ranks > 1 ? 200.0 : 0.0, 1e-9);
    /* Nothing is known unless all of the communicator have it. */
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
    assert_int_equal(waiting.came_last, rank == 0 ? 10 : 0); /* of equal ones the lowest */
    free(late);
}

/* Where any rank needs nothing of another one, nobody has waited; where all do in no call, nothing
   is known. */
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

/* Nothing is known of series of which ranks have other calls, and the next one is none the worse.
   Ranks needn't have the same series. */
TEST(each_series_by_itself)
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
    /* One of all, one of each rank alone, which has the key in between or before. */
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

/* What a call costs by itself, in all ranks. */
static uint64_t cost(int call) { return 100 + (uint64_t)call * 7919 % 101; }

/* Few calls that take very long are seldom among those that are kept; the time of all calls has
   them. One in 100 is half of all waiting. */
TEST(the_time_of_all_calls_tells_of_long_ones)
{
    enum { CALLS = 100000, LONG = 100 * 50 };
    struct late *const late = make();
    double sum = 0.0;
    for (int i = 0; i < CALLS; i++) {
        const uint64_t ticks = rank == 0 ? 0 : waited(i, rank) + (i % 100 == 17 ? LONG : 0);
        (void)add(late, cost(i) + ticks);
        sum += (double)ticks;
    }
    const struct late_waiting waiting = compare(late, ranks, 1.0);
    assert_true(waiting.is_known);
    assert_near(waiting.mean_ns, sum / CALLS, 4.0 * waiting.error_ns + 1e-9);
    assert_true(waiting.error_ns < 1.0);
    free(late);
}

/* The mean of what was kept is moved by what all calls took longer than these. */
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
    /* As many again that weren't kept, each 20 ticks longer than the mean of 35. */
    series->calls += KEPT;
    series->of_part[LATE_MEMBER].calls += KEPT;
    series->of_part[LATE_MEMBER].ticks += KEPT * 55;
    mean = late_mean(series, waits, LATE_MEMBER, 1.0);
    assert_near(mean.mean, 4.0, 1e-12);
    assert_near(mean.error, 0.0, 1e-6);
    assert_near(mean.shift, 1.0, 1e-12);
    /* Where the time tells nothing of the waiting it is left alone. */
    for (int i = 0; i < KEPT; i++)
        series->call[i].ticks = 55;
    mean = late_mean(series, waits, LATE_MEMBER, 1.0);
    assert_near(mean.mean, 3.0, 1e-12);
    assert_near(mean.error, sqrt(14.0 / 2.0 / KEPT * 0.5), 1e-12);
    free(late);
}

/* What calls of the other part took means nothing, and how many these were is known. */
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
