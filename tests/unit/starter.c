/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int rank = 0, ranks = 1;
char **arguments;

/* That of programs which need nothing. */
__attribute__((weak)) const struct test_program test_program = {.mpi = false};

static struct CMUnitTest tests[128];
static size_t count;

void add_test(const char *name, void (*function)(void **state), void *state)
{
    if (count == COUNT(tests))
        abort();
    tests[count++] = (struct CMUnitTest){.name = name,
                                         .test_func = function,
                                         .setup_func = test_program.before_each,
                                         .teardown_func = test_program.after_each,
                                         .initial_state = state};
}

/* Returns the number of tests that failed. cmocka's macro for this wants the array itself. */
static int run(size_t first, size_t number)
{
    return _cmocka_run_group_tests("tests", &tests[first], number, NULL, NULL);
}

static int run_in_a_process(size_t test)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int failures = run(test, 1);
        fflush(NULL);
        _exit(failures);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

/* Only rank 0 reports on stdout; failures show on stderr from every rank. Returns 1 if a test
   failed on any rank. */
int main(int argc, char **argv)
{
    const struct test_program *const program = &test_program;
    int failures = 0;
    if (program->mpi) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
            return 1;
    }
    arguments = argv;
    if (program->set_up != NULL)
        program->set_up();
    if (program->processes)
        for (size_t test = 0; test < count; test++)
            failures += run_in_a_process(test);
    else
        failures = run(0, count);
    if (program->tear_down != NULL)
        program->tear_down();
    if (program->mpi) {
        MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return failures != 0;
}
