/*
 * The clock that ranks share, where each rank's clock is shifted and runs at a rate of its own, or
 * all are one. The truth is the clock of the host, on which all ranks run. Run on 1, 2 and 4 ranks,
 * with an argument: `shifted` or `one`.
 */
#include "ranks.h"

#include "monitor/common_clock.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { RANKS_MAX = 4 };

static bool is_shifted;

/* ---- stand-ins for the clock of a rank ------------------------------------------------------- */

#define SHIFT_NS 1000000000.0
#define DRIFT 40e-6

bool ticks_are_tsc;

double ticks_ns(void) { return 1.0; }

uint64_t ticks_cost(void) { return 30; }

static int64_t true_ns(void)
{
    struct timespec now;
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t origin_ns;

/* What this rank's clock shows at a time. */
static uint64_t shown_at(int64_t time_ns)
{
    if (!is_shifted)
        return (uint64_t)time_ns;
    return (uint64_t)(time_ns + llround(rank * (SHIFT_NS + DRIFT * (double)(time_ns - origin_ns))));
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    const int64_t shown_ns = (int64_t)shown_at(true_ns());
    time->tv_sec = shown_ns / 1000000000;
    time->tv_nsec = shown_ns % 1000000000;
    return 0;
}

/* ---- is it right? ---------------------------------------------------------------------------- */

/* How far this rank's clock is off at a time, which is rank 0's. */
static double off_ns(const struct common_clock *clock, int64_t time_ns)
{
    double reference_ns = common_clock_ns(clock, shown_at(time_ns));
    const double own_ns = reference_ns;
    MPI_Bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return fabs(own_ns - reference_ns);
}

static int64_t agreed_ns(void)
{
    int64_t time_ns = true_ns();
    MPI_Bcast(&time_ns, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return time_ns;
}

static void wait_for(long ns) { (void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); }

/* Within what the clock says of its error at a time; 2 ns are lost by rounding. */
static void assert_right(const struct common_clock *clock, int64_t time_ns)
{
    const double allowed_ns = common_clock_error_ns(clock, shown_at(time_ns)) + 2.0;
    assert_near(off_ns(clock, time_ns), 0.0, allowed_ns);
}

/* Where ranks share a processor and wait for their turns. */
#define ERROR_MAX_NS 40e6

static double last_but_one_ns, last_ns;

TEST(one_comparison_tells_no_drift)
{
    struct common_clock clock;
    const int64_t before_ns = agreed_ns();
    assert_int_equal(common_clock_find(MPI_COMM_WORLD, &clock), 1);
    assert_true(clock.first_ns == clock.last_ns);
    assert_right(&clock, before_ns);
    assert_right(&clock, agreed_ns());
    assert_right(&clock, before_ns - 1000000000);
    const double now_ns = common_clock_error_ns(&clock, shown_at(before_ns));
    const double long_ago_ns = common_clock_error_ns(&clock, shown_at(before_ns - 1000000000));
    /* A ten-thousandth for each comparison on the way to rank 0. */
    const double grows_by_ns = is_shifted ? 1e5 * __builtin_popcount((unsigned)rank) : 0.0;
    assert_near(long_ago_ns - now_ns, grows_by_ns, 1e-3 * grows_by_ns + 1e-6);
    assert_true(rank == 0 || (now_ns > 0.0 && now_ns < ERROR_MAX_NS));
    /* Rank 3 is compared with rank 1, so it knows no more. */
    double errors_ns[RANKS_MAX];
    MPI_Allgather(&clock.first_error_ns, 1, MPI_DOUBLE, errors_ns, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    assert_true(ranks < 4 || errors_ns[3] > errors_ns[1] || !is_shifted);
    last_ns = (double)before_ns;
}

TEST(between_two_it_runs_evenly)
{
    struct common_clock clock;
    wait_for(50000000);
    const int64_t middle_ns = agreed_ns();
    wait_for(50000000);
    assert_int_equal(common_clock_find(MPI_COMM_WORLD, &clock), 2);
    assert_true(clock.last_ns > clock.first_ns);
    assert_right(&clock, (int64_t)last_ns);
    assert_right(&clock, middle_ns);
    assert_right(&clock, agreed_ns());
    /* And far beyond, with what the rate may be off. */
    assert_right(&clock, middle_ns - 10000000000);
    assert_right(&clock, middle_ns + 10000000000);
    assert_near(clock.model.drift, is_shifted ? rank * DRIFT : 0.0,
                is_shifted ? (clock.first_error_ns + clock.last_error_ns) / 1e8 : 0.0);
    last_but_one_ns = (double)middle_ns;
}

/* The first one stays, the latest one counts. */
TEST(a_third_takes_the_place_of_the_second)
{
    struct common_clock clock, later;
    assert_int_equal(common_clock_find(MPI_COMM_WORLD, &clock), 2);
    wait_for(50000000);
    assert_int_equal(common_clock_find(MPI_COMM_WORLD, &later), 2);
    assert_true(later.first_ns == clock.first_ns && later.last_ns >= clock.last_ns + 50000000);
    assert_right(&later, (int64_t)last_but_one_ns);
    assert_right(&later, agreed_ns());
}

/* The error is that of a comparison there, and between them a mean and what rates may change. */
TEST(errors_grow_with_the_distance)
{
    struct common_clock clock = {.growth = 1e-8,
                                 .first_ns = 1000000000,
                                 .last_ns = 3000000000,
                                 .first_error_ns = 100.0,
                                 .last_error_ns = 300.0};
    /* A clock whose own time is 0 at what its model calls 0. */
    struct common_clock zero;
    (void)common_clock_find(MPI_COMM_WORLD, &zero);
    zero.model = (struct bc_clock_model){0};
    const int64_t shown_ns = (int64_t)shown_at(agreed_ns());
    const int64_t base_ns = shown_ns - llround(common_clock_ns(&zero, (uint64_t)shown_ns));
#define ERROR_AT(ns) common_clock_error_ns(&clock, (uint64_t)(base_ns + (ns)))
    assert_near(ERROR_AT(1000000000), 100.0, 1e-3);
    assert_near(ERROR_AT(3000000000), 300.0, 1e-3);
    assert_near(ERROR_AT(2000000000), 200.0 + 10.0, 1e-3);
    assert_near(ERROR_AT(1500000000), 150.0 + 5.0, 1e-3);
    assert_near(ERROR_AT(0), 100.0 + 200.0 + 10.0, 1e-3);
    assert_near(ERROR_AT(5000000000), 300.0 + 400.0 + 20.0, 1e-3);
    clock.last_ns = clock.first_ns;
    clock.last_error_ns = clock.first_error_ns;
    clock.growth = 1e-4;
    assert_near(ERROR_AT(0), 100.0 + 1e5, 1e-3);
    assert_near(ERROR_AT(1500000000), 100.0 + 5e4, 1e-3);
#undef ERROR_AT
}

static void choose_clocks(void)
{
    is_shifted = strcmp(arguments[1], "shifted") == 0;
    origin_ns = true_ns();
}

const struct test_program test_program = {.mpi = true, .set_up = choose_clocks};
