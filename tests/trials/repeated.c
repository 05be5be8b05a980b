/*
 * A benchmark each of whose rows is measured REPEATED_ROWS times in a launch, as rows of their own:
 * do the intervals of one launch agree with each other? Compiled once for each benchmark.
 */
#include "common/run/benchmark.h"

enum { REPEATED_ROWS = 16 };

extern const struct bc_benchmark BC_BENCHMARK;

static void list_often(void *state, struct bc_rows *rows)
{
    for (int i = 0; i < REPEATED_ROWS; i++)
        BC_BENCHMARK.rows(state, rows);
}

int main(int argc, char **argv)
{
    struct bc_benchmark repeated = BC_BENCHMARK;
    repeated.rows = list_often;
    return bc_benchmark_main(&repeated, argc, argv);
}
