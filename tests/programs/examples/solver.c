/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An iterative solver: each iteration computes some local sums, all ranks add them up, and the
 * update needs the results.
 *
 * Fault: an MPI_Allreduce for each sum, directly after each other. Mended, one for all of them.
 *
 * usage: solver ITERATIONS SUMS WORK_US UPDATE_US [mended]
 */
#include "example.h"

int main(int argc, char **argv)
{
    double numbers[4] = {0};
    const struct example example =
        example_init(argc, argv, "solver ITERATIONS SUMS WORK_US UPDATE_US [mended]", 4, numbers);
    const int iterations = (int)numbers[0], sums = (int)numbers[1];
    const double work_us = numbers[2], update_us = numbers[3];
    double *const own = zeros((size_t)sums * sizeof *own);
    double *const all = zeros((size_t)sums * sizeof *all);

    const int64_t begin_ns = loop_begin();
    for (int iteration = 0; iteration < iterations; iteration++) {
        work(work_us);
        if (example.mended)
            MPI_Allreduce(own, all, sums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            for (int i = 0; i < sums; i++)
                MPI_Allreduce(&own[i], &all[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < sums; i++)
            own[i] = 1.0 + all[i] / (2.0 * example.ranks);
        work(update_us);
    }
    loop_end(&example, begin_ns);

    free(own);
    free(all);
    MPI_Finalize();
    return 0;
}
