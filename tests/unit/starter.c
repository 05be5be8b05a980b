#include "ranks.h"

#include <stdio.h>

int rank = 0, ranks = 1;

/* Only rank 0 reports on stdout; failures show on stderr from every rank. Returns 1 if a test
   failed on any rank. */
int main(int argc, char **argv)
{
    const struct test_program *const program = &test_program;
    if (program->mpi) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
            return 1;
    }
    if (program->set_up != NULL)
        program->set_up();
    /* cmocka's macro for this wants the array itself. */
    int failures =
        _cmocka_run_group_tests(program->name, program->tests, program->count, NULL, NULL);
    if (program->tear_down != NULL)
        program->tear_down();
    if (program->mpi) {
        MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return failures != 0;
}
