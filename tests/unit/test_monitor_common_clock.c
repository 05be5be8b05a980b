/*
 * How far the clock that ranks share may be off. Run on 1 and 4 ranks. Whether it is right, on
 * clocks that are shifted and drift, is tested in virtual time (tests/virtual/monitor_test.py,
 * Late).
 */
#include "ranks.h"

#include "monitor/common_clock.h"

#include <sys/syscall.h>
#include <unistd.h>

bool ticks_are_tsc;

double ticks_ns(void) { return 1.0; }

uint64_t ticks_cost(void) { return 30; }

/* Each rank's clock is shifted by seconds, so that ranks have to compare theirs. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int error = (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += clock == CLOCK_MONOTONIC ? rank : 0;
    return error;
}

/* The time on this process's clock at which the shared clock is 0. */
static int64_t zero_ns;

static double error_at(const struct common_clock *clock, int64_t ns)
{
    return common_clock_error_ns(clock, (uint64_t)(zero_ns + ns));
}

/* The error is that of a comparison there, and between them a mean and what rates may change. */
TEST(errors_grow_with_the_distance)
{
    struct common_clock clock = {.first_ns = 1000000000,
                                 .last_ns = 3000000000,
                                 .known = {.error_ns = {100.0, 300.0}, .growth = 1e-8}};
    struct common_clock found;
    assert_int_equal(common_clock_find(MPI_COMM_WORLD, &found), 1);
    /* One comparison tells nothing of rates: a ten-thousandth for each step on the way to rank 0.
     */
    assert_near(found.known.growth, 1e-4 * __builtin_popcount((unsigned)rank), 1e-9);
    assert_true(found.first_ns == found.last_ns);
    found.known.model = (struct bc_clock_model){0};
    zero_ns = -llround(common_clock_ns(&found, 0));
    static const double between[][2] = {{1e9, 100.0},
                                        {3e9, 300.0},
                                        {2e9, 200.0 + 10.0},
                                        {1.5e9, 150.0 + 5.0},
                                        {0.0, 100.0 + 200.0 + 10.0},
                                        {5e9, 300.0 + 400.0 + 20.0}};
    for (size_t i = 0; i < COUNT(between); i++)
        assert_near(error_at(&clock, (int64_t)between[i][0]), between[i][1], 1e-3);
    clock.last_ns = clock.first_ns;
    clock.known.error_ns[LAST] = clock.known.error_ns[FIRST];
    clock.known.growth = 1e-4;
    assert_near(error_at(&clock, 0), 100.0 + 1e5, 1e-3);
    assert_near(error_at(&clock, 1500000000), 100.0 + 5e4, 1e-3);
}

/* The first one stays, the latest one counts. */
TEST(a_third_takes_the_place_of_the_second)
{
    struct common_clock second, third;
    assert_int_equal(common_clock_find(MPI_COMM_WORLD, &second), 2);
    assert_int_equal(common_clock_find(MPI_COMM_WORLD, &third), 2);
    assert_true(third.first_ns == second.first_ns && third.last_ns > second.last_ns);
}

const struct test_program test_program = {.mpi = true};
