/*
 * Windows of a few bytes, and windows in memory of the program (MPI 3.1, sections 11.2.1 and
 * 11.2.2, which put no bound on their size and ask for no more than the alignment of what is
 * stored).
 *
 *   mpirun -np 2 small_window allocate     MPI_Win_allocate of 8 bytes
 *   mpirun -np 2 small_window create       MPI_Win_create of 8 bytes that begin 8 bytes after a
 * boundary of 64
 *
 * Exit status 0: what the other rank put is there; 1: it isn't.
 *
 * MPICH 4.0.2 (ch4:ucx): in neither does what is put arrive, on one node. Open MPI 4.1.4: right.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static _Alignas(64) int64_t ours[8];

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Win window;
    int64_t *base = &ours[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "create") == 0)
        MPI_Win_create(base, sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    else
        MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&base,
                         &window);
    *base = -1;
    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t mine = rank;
    MPI_Put(&mine, 1, MPI_INT64_T, 1 - rank, 0, 1, MPI_INT64_T, window);
    MPI_Win_flush_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    wrong = *base != 1 - rank;
    if (wrong)
        printf("rank %d has %lld, not %d\n", rank, (long long)*base, 1 - rank);
    MPI_Win_unlock_all(window);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong;
}
