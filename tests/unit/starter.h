/*
 * How a unit test starts: starter.c has the main() of the programs test_*. A test defines one
 * constant:
 *
 *     static const struct CMUnitTest tests[] = {
 *         cmocka_unit_test(barriers_wait_for_the_last),
 *     };
 *     const struct test_program test_program = {
 *         .name = "harness", .tests = tests, .count = COUNT(tests), .mpi = true};
 *
 * With MPI all ranks run all tests, and a check that fails ends the test on its own rank only. So
 * a test makes all its collective calls first and checks afterwards; otherwise the other ranks
 * would wait for one on which a check failed.
 */
#ifndef COMMCOST_TESTS_UNIT_STARTER_H
#define COMMCOST_TESTS_UNIT_STARTER_H

#include <stdbool.h>
#include <stddef.h>

struct CMUnitTest;

struct test_program {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
    bool mpi;                /* the tests run between MPI_Init and MPI_Finalize; see ranks.h */
    void (*set_up)(void);    /* before all tests; with MPI collective. NULL: nothing to do */
    void (*tear_down)(void); /* after all tests; the same */
};

extern const struct test_program test_program;

#endif
