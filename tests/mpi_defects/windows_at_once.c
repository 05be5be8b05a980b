/*
 * Windows that the even and the odd ranks of one node make at the same time, each
 * in a communicator of their own. Run it on 4 ranks; it exits with 1 if a window
 * can't be made, or if what a rank gets is not what its neighbour stored.
 *
 *   mpirun -np 4 windows_at_once          the two at once
 *   mpirun -np 4 windows_at_once apart    one after the other
 *
 * Open MPI 4.1.4 (osc/rdma, which it takes by default on one node): fails within
 *     a few of the repetitions, by MPI_ERR_WIN, by values of the other half's
 *     ranks, or by a message on open(2) or unlink(2) of /dev/shm/osc_rdma.*. That
 *     file is named after host, job and number of the communicator, and two
 *     communicators without a rank in common have the same number. Reported as
 *     open-mpi/ompi#9492; in 5.0 the name has a process number, too (#9525).
 *     "apart", and `--mca osc pt2pt`, are right.
 * MPICH 4.0.2: right.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* In less than a page MPICH 4.0.2 gets from a wrong place, which is another defect. */
#define WINDOW_BYTES 4096

int main(int argc, char **argv)
{
    int rank, self, size, wrong = 0;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    const int apart = argc > 1 && strcmp(argv[1], "apart") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Comm_rank(half, &self);
    MPI_Comm_size(half, &size);
    for (int i = 0; i < 200 && wrong == 0; i++) {
        MPI_Win window;
        double *values, got = -1.0;
        const int right = (self + 1) % size;
        if (apart && rank % 2 == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        const int code = MPI_Win_allocate(WINDOW_BYTES, sizeof *values, MPI_INFO_NULL, half,
                                          (void *)&values, &window);
        if (code != MPI_SUCCESS) {
            fprintf(stderr, "repetition %d: rank %d has no window: error %d\n", i, rank, code);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (apart && rank % 2 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, window);
        *values = rank;
        MPI_Win_sync(window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window);
        MPI_Get(&got, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window);
        MPI_Win_flush(right, window);
        wrong = got != 2.0 * right + rank % 2;
        if (wrong)
            fprintf(stderr, "repetition %d: rank %d got rank %g's value\n", i, rank, got);
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return wrong;
}
