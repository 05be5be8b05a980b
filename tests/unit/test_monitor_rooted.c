/*
 * Waiting in rooted collectives, by entries that the test sets on clocks that it shifts. Run on 1
 * and 3 ranks.
 */
#include "ranks.h"

#include "monitor/lib/report/compare.h"

#include <stdlib.h>

/* ---- stand-ins for the clock ----------------------------------------------------------------- */

/* A tick is two nanoseconds, and each rank's clock is another one. */
enum { TICK_NS = 2, SHIFT_TICKS = 1000000 };

static double error_ns; /* of every clock */

double common_clock_ns(uint64_t ticks)
{
    return TICK_NS * ((double)ticks - (double)(SHIFT_TICKS * (1 + rank)));
}

double common_clock_error_ns(uint64_t ticks) { return error_ns; }

/* ---- calls ----------------------------------------------------------------------------------- */

static struct late *late;
static struct late_waiting waiting;

static int set_up(void **state)
{
    error_ns = 0.0;
    late = calloc(1, sizeof *late);
    return late == NULL;
}

static int tear_down(void **state)
{
    free(late);
    return 0;
}

/* Adds a call that this rank entered at a time, of rank 0's clock, and which took `ns`. */
static void add_part(int64_t entry_ns, int64_t ns, enum late_part part)
{
    const struct late_call call = {
        .ticks = (uint64_t)(ns / TICK_NS),
        .entered = (uint64_t)(entry_ns / TICK_NS + (int64_t)SHIFT_TICKS * (1 + rank)),
        .part = part,
    };
    assert_true(late_add(late, 1, 2, call));
}

static void add(int64_t entry_ns, int64_t ns, bool is_root)
{
    add_part(entry_ns, ns, is_root ? LATE_ROOT : LATE_MEMBER);
}

/* Of a communicator of this many processes. */
static bool compare_of(int processes, bool root_waits)
{
    const struct late_item item = {
        .key = 1,
        .processes = processes,
        .series = late->series,
        .wait = root_waits ? THE_ROOT_WAITS : OTHERS_WAIT,
    };
    waiting = (struct late_waiting){.is_known = false};
    late_compare(late->count > 0, &item, TICK_NS, MPI_COMM_WORLD, &waiting);
    return waiting.is_known;
}

static bool compare(bool root_waits) { return compare_of(ranks, root_waits); }

/* Forgets all calls. */
static void clear(void) { memset(late, 0, sizeof *late); }

enum { CALLS = 60, LONG_NS = 1000000 };

/* The place in which a rank comes to a call: rank i % ranks comes last. */
static int place_of(int call, int who) { return (who - call % ranks - 1 + 2 * ranks) % ranks; }

/* Adds calls of all places and roots. Each place is 100 ns after the one before. */
static void add_calls(int64_t took_ns)
{
    for (int i = 0; i < CALLS; i++)
        add(10000 * i + 100 * place_of(i, rank), took_ns, rank == i / ranks % ranks);
}

/* ---- what ranks wait ------------------------------------------------------------------------- */

/* Who leaves before the others have come has waited until then only. */
TEST(nobody_waits_longer_than_in_the_call)
{
    for (int root_waits = 0; root_waits < 2; root_waits++) {
        double sum_ns = 0.0;
        clear();
        add_calls(40);
        for (int i = 0; i < CALLS; i++) {
            const int root = i / ranks % ranks;
            const int until = root_waits ? ranks - 1 : place_of(i, root);
            if ((rank == root) == root_waits && until > place_of(i, rank))
                sum_ns += 40.0;
        }
        assert_true(compare(root_waits));
        assert_near(waiting.mean_ns, sum_ns / CALLS, 1e-6);
        assert_near(waiting.hi_ns, sum_ns / CALLS, 1e-6);
    }
}

/* Two clocks may be off. That can't make a waiting longer than the call or shorter than nothing. */
TEST(the_interval_has_what_the_clock_may_be_off)
{
    static const struct {
        int64_t late_ns;
        double mean_ns, lo_ns, hi_ns;
    } cases[] = {
        {500, 500.0, 440.0, 560.0}, {20, 20.0, 0.0, 80.0},       {-20, 0.0, 0.0, 40.0},
        {-500, 0.0, 0.0, 0.0},      {980, 980.0, 920.0, 1000.0}, {5000, 1000.0, 1000.0, 1000.0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        clear();
        error_ns = 30.0;
        add(10000 + (rank == 0 ? cases[i].late_ns : 0), 1000, rank == 0);
        assert_true(compare(false));
        const bool waits = rank > 0;
        assert_near(waiting.mean_ns, waits ? cases[i].mean_ns : 0.0, 1e-6);
        assert_near(waiting.lo_ns, waits ? cases[i].lo_ns : 0.0, 1e-6);
        assert_near(waiting.hi_ns, waits ? cases[i].hi_ns : 0.0, 1e-6);
        assert_int_equal(waiting.came_last, rank == 0 && ranks > 1 && cases[i].late_ns > 0);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Ranks outside of the communicator take part, and say nothing. */
TEST(ranks_without_the_series)
{
    if (rank < 2)
        add(rank == 0 ? 700 : 400, LONG_NS, rank == 0);
    assert_int_equal(compare_of(ranks < 2 ? ranks : 2, false), rank < 2);
    assert_near(waiting.mean_ns, rank == 1 ? 300.0 : 0.0, 1e-6);
}

/* Who has no data for the root or from it neither waits nor is waited for. */
TEST(nobody_waits_for_nothing)
{
    const int64_t entry_ns[] = {400, 300, 900};
    for (int root_waits = 0; root_waits < 2; root_waits++) {
        clear();
        add_part(entry_ns[rank % 3], LONG_NS,
                 rank == 0   ? LATE_ROOT
                 : rank == 2 ? LATE_INDEPENDENT
                             : LATE_MEMBER);
        assert_true(compare(root_waits));
        assert_near(waiting.mean_ns, !root_waits && rank == 1 ? 100.0 : 0.0, 1e-6);
        assert_int_equal(waiting.came_last, !root_waits && rank == 0 && ranks > 1);
    }
}

TEST(nothing_is_said_of_other_calls)
{
    for (int i = 0; i < 10 + (rank == 1); i++)
        add(1000 * i, LONG_NS, rank == 0);
    assert_int_equal(compare(false), ranks < 2);
}

/* The root is a process that is none of the ranks. */
TEST(nothing_is_said_without_a_root)
{
    for (int i = 0; i < 10; i++)
        add(1000 * i, LONG_NS, rank == 0 && i != 3);
    assert_false(compare(false));
    assert_false(compare(true));
}

const struct test_program test_program = {
    .mpi = true, .before_each = set_up, .after_each = tear_down};
