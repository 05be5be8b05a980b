/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks that can be chosen. What a reading costs is shown by tests/machine/clock.c.
 */
#include "helpers.h"

#include "common/clock/clock.h"

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

/* If the processor's flags state an invariant counter it must be taken, or
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

const struct test_program test_program = {.mpi = true};
