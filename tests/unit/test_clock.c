/*
 * The clocks against each other and against a bare loop.
 */
#include "helpers.h"

#include "common/clock/clock.h"
#include "common/stats/stats.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const enum bc_clock_kind kinds[] = {BC_CLOCK_MONOTONIC, BC_CLOCK_TSC, BC_CLOCK_WTIME};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int64_t system_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

TEST(clocks_never_go_back)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (!bc_clock_select(kinds[kind]))
            continue;
        int64_t last_ns = bc_now_ns();
        const int64_t first_ns = last_ns;
        for (int i = 0; i < 200000; i++) {
            const int64_t now_ns = bc_now_ns();
            assert_true(now_ns >= last_ns);
            last_ns = now_ns;
        }
        assert_true(last_ns > first_ns);
    }
}

/* The rate of the clock in force over the system's, over 50 ms; both ends are
   read closely together, of several tries the closest. */
static double rate_over_50_ms(void)
{
    int64_t clock_ns[2] = {0, 0}, reference_ns[2] = {0, 0};
    for (int end = 0; end < 2; end++) {
        int64_t closest_ns = INT64_MAX;
        for (int i = 0; i < 20; i++) {
            const int64_t before_ns = system_ns();
            const int64_t read_ns = bc_now_ns();
            const int64_t apart_ns = system_ns() - before_ns;
            if (apart_ns < closest_ns) {
                closest_ns = apart_ns;
                clock_ns[end] = read_ns;
                reference_ns[end] = before_ns + apart_ns / 2;
            }
        }
        while (end == 0 && system_ns() - reference_ns[0] < 50000000)
            continue;
    }
    return (double)(clock_ns[1] - clock_ns[0]) / (double)(reference_ns[1] - reference_ns[0]);
}

TEST(clocks_agree)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (!bc_clock_select(kinds[kind]))
            continue;
        double rates[5];
        for (int i = 0; i < 5; i++)
            rates[i] = rate_over_50_ms();
        assert_near(bc_median(rates, 5), 1.0, 0.001);
    }
}

TEST(default_is_monotonic)
{
    assert_true(bc_clock_select(BC_CLOCK_MONOTONIC));
    const int64_t before_ns = system_ns();
    const int64_t now_ns = bc_now_ns();
    assert_true(now_ns >= before_ns && now_ns <= system_ns());
}

TEST(wtime_is_that_of_mpi)
{
    assert_true(bc_clock_select(BC_CLOCK_WTIME));
    const double before_s = MPI_Wtime();
    const double now_s = (double)bc_now_ns() * 1e-9;
    const double after_s = MPI_Wtime();
    /* A double holds a time since 1970 to about 240 ns. */
    assert_true(now_s >= before_s - 1e-6 && now_s <= after_s + 1e-6);
}

/* Where the processor says that its counter is invariant it must be taken, or
   the tests above test one clock less. Other processors have no such counter; an emulator's
   /proc/cpuinfo may be that of the machine under it. */
TEST(tsc_is_taken_where_invariant)
{
#ifndef __x86_64__
    assert_false(bc_clock_select(BC_CLOCK_TSC));
    skip();
#endif
    char line[8192];
    bool invariant = false;
    FILE *const info = fopen("/proc/cpuinfo", "r");
    if (info == NULL)
        skip();
    while (fgets(line, sizeof line, info) != NULL)
        if (strncmp(line, "flags", 5) == 0)
            invariant = strstr(line, " constant_tsc ") != NULL &&
                        strstr(line, " nonstop_tsc ") != NULL && strstr(line, " rdtscp ") != NULL;
    fclose(info);
    const bool taken = bc_clock_select(BC_CLOCK_TSC);
    assert_true(bc_clock_select(BC_CLOCK_MONOTONIC));
    if (!invariant && !taken)
        skip();
    assert_true(taken);
    assert_true(invariant);
}

TEST(unknown_clock_changes_nothing)
{
    assert_true(bc_clock_select(BC_CLOCK_MONOTONIC));
    int64_t (*const before)(void) = bc_clock_read;
    assert_false(bc_clock_select((enum bc_clock_kind)99));
    assert_true(bc_clock_read == before);
}

/* What a reading costs, in a loop that does nothing else, by the system's clock. */
static double loop_cost_ns(void)
{
    enum { BATCHES = 51, READS = 2000 };
    double costs[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        const int64_t start_ns = system_ns();
        for (int i = 0; i < READS; i++)
            bc_now_ns();
        costs[batch] = (double)(system_ns() - start_ns) / READS;
    }
    return bc_median(costs, BATCHES);
}

static bool cost_matches(void)
{
    const double loop_ns = loop_cost_ns();
    const struct bc_clock_cost cost = bc_clock_measure();
    const double off_ns = fabs(cost.read_ns - loop_ns);
    if (off_ns <= 3.0 || off_ns <= 0.2 * loop_ns)
        return true;
    print_error("a reading costs %.1f ns, measured as %.1f ns\n", loop_ns, cost.read_ns);
    return false;
}

TEST(cost_is_that_of_a_loop)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (!bc_clock_select(kinds[kind]))
            continue;
        /* Somebody else may have had the processor: one repeat. */
        assert_true(cost_matches() || cost_matches());
    }
}

TEST(resolution_is_a_step)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (!bc_clock_select(kinds[kind]))
            continue;
        const struct bc_clock_cost cost = bc_clock_measure();
        assert_true(cost.resolution_ns >= 1.0 && cost.resolution_ns < 2000.0);
        /* A clock that is read faster than it steps shows the step. */
        assert_true(cost.resolution_ns <= fmax(2.0 * cost.read_ns, 1000.0));
    }
}

const struct test_program test_program = {.mpi = true};
