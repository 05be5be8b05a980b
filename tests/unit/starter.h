/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a unit test starts: starter.c has main(). A program is some tests, and where these want MPI
 * or something made before them, one constant:
 *
 *     TEST(barriers_wait_for_the_last)
 *     {
 *         ...
 *     }
 *
 *     const struct test_program test_program = {.mpi = true};
 *
 * With MPI all ranks run all tests, and a check that fails ends the test on its own rank only. So
 * a test makes all its collective calls first and checks afterwards; otherwise the other ranks
 * would wait for one on which a check failed.
 */
#ifndef COMMCOST_TESTS_UNIT_STARTER_H
#define COMMCOST_TESTS_UNIT_STARTER_H

#include <stdbool.h>
#include <stddef.h>

/* Defines a test, cmocka's, and adds it to those of the program before main() starts. The tests run
   in the order in which they are written. */
#define TEST(name)                                                                                 \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void) { add_test(#name, name, NULL); }     \
    static void name(void **state)

/* Adds a test by hand, from test_program.set_up: such as the same function with several states.
   `name` and `state` must last. */
void add_test(const char *name, void (*function)(void **state), void *state);

struct test_program {
    bool mpi;                /* the tests run between MPI_Init and MPI_Finalize; see ranks.h */
    bool processes;          /* each test in a process of its own, without MPI */
    void (*set_up)(void);    /* before all tests; with MPI collective. NULL: nothing to do */
    void (*tear_down)(void); /* after all tests; the same */
    int (*before_each)(void **state), (*after_each)(void **state); /* cmocka's fixtures */
};

extern const struct test_program test_program;

#endif
