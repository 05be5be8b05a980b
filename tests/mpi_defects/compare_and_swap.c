/*
 * MPI_Compare_and_swap of 8 bytes with a process of the same node: the value is swapped (MPI 3.1,
 * section 11.3.4).
 *
 *   mpirun -np 2 compare_and_swap
 *
 * Exit status 0: it is; 1: it isn't.
 *
 * MPICH 4.0.2: right. Open MPI 4.1.4: a segmentation fault of the target, in its component vader
 * (open-mpi/ompi, issues 7027, 9146, 11349); right with "--mca osc sm", "--mca osc pt2pt" or "--mca
 * btl_vader_single_copy_mechanism none".
 */
#include <mpi.h>
#include <stdint.h>

int main(int argc, char **argv)
{
    const int64_t zero = 0, one = 1;
    int64_t *value, before = -1;
    int rank;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(4096, sizeof *value, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&value, &window);
    *value = 0;
    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Compare_and_swap(&one, &zero, &before, MPI_INT64_T, 0, 0, window);
        MPI_Win_flush(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    const int wrong = rank == 1 ? before != 0 : *value != (rank == 0);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong;
}
