/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts to the next rank of a ring: in each step a rank puts values into its neighbour's window,
 * flushes them, and works.
 *
 * Fault: it flushes again, several times, where nothing was put since the last flush. Mended, it
 * flushes once.
 *
 * usage: puts STEPS PUTS BYTES IDLE_FLUSHES WORK_US BARRIER_EVERY [mended]
 *        BARRIER_EVERY: steps from one barrier to the next; 0: none
 */
#include "example.h"

int main(int argc, char **argv)
{
    double numbers[6] = {0};
    const struct example example = example_init(
        argc, argv, "puts STEPS PUTS BYTES IDLE_FLUSHES WORK_US BARRIER_EVERY [mended]", 6,
        numbers);
    const int steps = (int)numbers[0], puts = (int)numbers[1], bytes = (int)numbers[2];
    const int idle_flushes = example.mended ? 0 : (int)numbers[3];
    const double work_us = numbers[4];
    const int barrier_every = (int)numbers[5];
    const int neighbour = (example.rank + 1) % example.ranks;
    char *const own = zeros((size_t)bytes);
    char *memory;
    MPI_Win window;
    MPI_Win_allocate((MPI_Aint)puts * bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);

    const int64_t begin_ns = loop_begin();
    for (int step = 1; step <= steps; step++) {
        for (int i = 0; i < puts; i++)
            MPI_Put(own, bytes, MPI_CHAR, neighbour, (MPI_Aint)i * bytes, bytes, MPI_CHAR, window);
        MPI_Win_flush(neighbour, window);
        for (int i = 0; i < idle_flushes; i++)
            MPI_Win_flush(neighbour, window);
        work(work_us);
        if (barrier_every > 0 && step % barrier_every == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    loop_end(&example, begin_ns);

    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(own);
    MPI_Finalize();
    return 0;
}
