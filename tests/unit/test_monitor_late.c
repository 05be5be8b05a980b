/*
 * Late processes: which calls are kept, and what ranks say together. Run on 1 and 3 ranks.
 */
#include "ranks.h"

#include "monitor/late.h"

#include <stdlib.h>

static struct late *make(void)
{
    struct late *const late = calloc(1, sizeof *late);
    assert_non_null(late);
    return late;
}

/* ---- keeping --------------------------------------------------------------------------------- */

TEST(all_calls_are_kept_while_they_fit)
{
    struct late *const late = make();
    for (int i = 0; i < LATE_KEPT_MAX; i++)
        assert_true(late_add(late, 1, 2, (uint64_t)i));
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
        assert_true(late_add(late, 1, 2, (uint64_t)(3 * i)));
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

/* Entries are those of the calls that are kept, and other series have none. */
TEST(rooted_calls_keep_their_entries)
{
    enum { CALLS = 100000 };
    struct late *const late = make();
    const struct late_series *const series = &late->series[0], *const other = &late->series[1];
    for (int64_t i = 0; i < CALLS; i++) {
        const struct late_entry entry = {(uint64_t)(7 * i), i % 3 == 0};
        assert_true(late_add_rooted(late, 1, 2, (uint64_t)(3 * i), entry));
        assert_true(late_add(late, 1, 3, (uint64_t)(3 * i)));
    }
    assert_true(series->kept > LATE_KEPT_MAX / 4);
    assert_int_equal(series->kept, other->kept);
    for (int i = 0; i < series->kept; i++) {
        const int64_t number = series->call[i].number;
        assert_int_equal(number, other->call[i].number);
        assert_int_equal(series->call[i].ticks, 3 * number);
        assert_int_equal(series->entry[i].ticks, 7 * number);
        assert_int_equal(series->entry[i].is_root, number % 3 == 0);
        assert_int_equal(other->entry[i].ticks, 0);
    }
    free(late);
}

TEST(each_function_and_communicator_is_a_series)
{
    struct late *const late = make();
    for (int i = 0; i < LATE_SERIES_MAX; i++)
        assert_true(late_add(late, i / 2, i % 2, 1));
    assert_false(late_add(late, LATE_SERIES_MAX, 0, 1));
    assert_true(late_add(late, 3, 1, 1));
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

/* Ranks outside of the communicator take part, and say nothing. */
TEST(ranks_without_the_series)
{
    struct late *const late = make();
    struct late_waiting waiting;
    for (int i = 0; i < 10; i++)
        (void)late_add(late, 1, 2, rank == 0 ? 300 : 100);
    const bool has = rank < 2;
    assert_true(late_compare(has ? &late->series[0] : NULL, MPI_COMM_WORLD, &waiting));
    assert_near(waiting.mean_ticks, rank == 0 && ranks > 1 ? 200.0 : 0.0, 1e-9);
    assert_int_equal(waiting.calls, has ? 10 : 0);
    assert_int_equal(waiting.ranks, ranks < 2 ? ranks : 2);
    free(late);
}

/* What a call costs by itself, in all ranks. */
static uint64_t cost(int call) { return 100 + (uint64_t)call * 7919 % 101; }

/* Few calls that take very long are seldom among those that are kept; the time of all calls has
   them. One in 100 is half of all waiting. */
TEST(the_time_of_all_calls_tells_of_long_ones)
{
    enum { CALLS = 100000, LONG = 100 * 50 };
    struct late *const late = make();
    struct late_waiting waiting;
    double sum = 0.0;
    for (int i = 0; i < CALLS; i++) {
        const uint64_t ticks = rank == 0 ? 0 : waited(i, rank) + (i % 100 == 17 ? LONG : 0);
        (void)late_add(late, 1, 2, cost(i) + ticks);
        sum += (double)ticks;
    }
    assert_true(late_compare(&late->series[0], MPI_COMM_WORLD, &waiting));
    assert_near(waiting.mean_ticks, sum / CALLS, 4.0 * waiting.error_ticks + 1e-9);
    assert_true(waiting.error_ticks < 1.0);
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
        (void)late_add(late, 1, 2, 10 * (uint64_t)waits[i] + 5);
    struct late_mean mean = late_mean(series, waits, false, 1.0);
    assert_near(mean.mean, 3.0, 1e-12);
    assert_near(mean.error, 0.0, 1e-12);
    assert_near(mean.shift, 0.0, 1e-12);
    /* As many again that weren't kept, each 20 ticks longer than the mean of 35. */
    series->calls += KEPT;
    series->role[0].calls += KEPT;
    series->role[0].ticks += KEPT * 55;
    mean = late_mean(series, waits, false, 1.0);
    assert_near(mean.mean, 4.0, 1e-12);
    assert_near(mean.error, 0.0, 1e-6);
    assert_near(mean.shift, 1.0, 1e-12);
    /* Where the time tells nothing of the waiting it is left alone. */
    for (int i = 0; i < KEPT; i++)
        series->call[i].ticks = 55;
    mean = late_mean(series, waits, false, 1.0);
    assert_near(mean.mean, 3.0, 1e-12);
    assert_near(mean.error, sqrt(14.0 / 2.0 / KEPT * 0.5), 1e-12);
    free(late);
}

/* What calls of the other role took means nothing, and how many these were is known. */
TEST(a_rank_waits_in_one_role)
{
    enum { KEPT = 8 };
    static const double waits[KEPT] = {1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 6.0, 0.0};
    struct late *const late = make();
    struct late_series *const series = &late->series[0];
    for (int i = 0; i < KEPT; i++)
        (void)late_add_rooted(late, 1, 2, i % 2 == 1 ? 777 : 10 * (uint64_t)waits[i] + 5,
                              (struct late_entry){100, i % 2 == 1});
    assert_near(late_mean(series, waits, false, 1.0).mean, 1.5, 1e-12);
    /* 12 more, of which 4 are of the role, each 20 ticks longer than the mean of 35. */
    series->calls += 12;
    series->role[0].calls += 4;
    series->role[0].ticks += UINT64_C(4) * 55;
    series->role[1].calls += 8;
    series->role[1].ticks += 8000000;
    const struct late_mean mean = late_mean(series, waits, false, 1.0);
    assert_near(mean.mean, 8.0 / 20.0 * 4.0, 1e-12);
    assert_near(mean.shift, mean.mean - 1.5, 1e-12);
    assert_near(mean.error, 0.0, 1e-6);
    free(late);
}

TEST(keys_come_in_order)
{
    assert_int_equal(late_next_key(10 + rank, MPI_COMM_WORLD), 10);
    assert_int_equal(late_next_key(rank == 0 ? INT64_MAX : 7, MPI_COMM_WORLD),
                     ranks > 1 ? 7 : INT64_MAX);
}

const struct test_program test_program = {.mpi = true};
