/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transposition of a matrix that is spread over ranks: in each step each rank works on its rows,
 * then all exchange blocks of them.
 *
 * Fault: one rank has more to do than the others, which wait for it. Mended, the same work in all
 * is spread evenly.
 *
 * usage: transpose STEPS BLOCK_BYTES WORK_US EXTRA_US SLOW_RANK [mended]
 */
#include "example.h"

int main(int argc, char **argv)
{
    double numbers[5] = {0};
    const struct example example = example_init(
        argc, argv, "transpose STEPS BLOCK_BYTES WORK_US EXTRA_US SLOW_RANK [mended]", 5, numbers);
    const int steps = (int)numbers[0], block_bytes = (int)numbers[1], slow = (int)numbers[4];
    const double work_us = numbers[2], extra_us = numbers[3];
    const size_t row_bytes = (size_t)example.ranks * (size_t)block_bytes;
    char *const rows = zeros(row_bytes), *const columns = zeros(row_bytes);
    const double own_us = work_us + (example.mended ? extra_us / example.ranks
                                                    : (example.rank == slow ? extra_us : 0.0));

    const int64_t begin_ns = loop_begin();
    for (int step = 0; step < steps; step++) {
        work(own_us);
        MPI_Alltoall(rows, block_bytes, MPI_CHAR, columns, block_bytes, MPI_CHAR, MPI_COMM_WORLD);
    }
    loop_end(&example, begin_ns);

    free(rows);
    free(columns);
    MPI_Finalize();
    return 0;
}
