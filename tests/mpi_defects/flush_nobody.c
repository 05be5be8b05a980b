/*
 * MPI_Win_flush of a rank that the window doesn't have, with errors returned: an error of the class
 * MPI_ERR_RANK (MPI 3.1, sections 8.3 and 11.6.1), where the library checks arguments.
 *
 *   mpirun -np 2 flush_nobody
 *
 * Exit status 0: an error; 1: none.
 *
 * MPICH 4.0.2: right. Open MPI 4.1.4: a segmentation fault, though it checks arguments elsewhere.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Win window;
    void *base;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&base, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, window);
    const int error = MPI_Win_flush(1000, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return error == MPI_SUCCESS;
}
