/*
 * MPI_Waitall where one of the operations fails, a message longer than its receive, with errors returned: the others
 * are completed, and MPI_ERR_IN_STATUS is returned (MPI 3.1, section 3.7.5).
 *
 *   mpirun -np 1 waitall_fails              at MPI_THREAD_SINGLE
 *   mpirun -np 1 waitall_fails multiple     at MPI_THREAD_MULTIPLE
 *
 * Exit status 0: right; 1: wrong.
 *
 * MPICH 4.0.2: right.
 * Open MPI 4.1.4: never returns at MPI_THREAD_MULTIPLE.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int sent[2] = {1, 2}, received[2] = {0, 0}, level;
    MPI_Request receives[2], sends[2];
    MPI_Status statuses[2];
    const int multiple = argc > 1 && strcmp(argv[1], "multiple") == 0;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&received[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &receives[0]);
    MPI_Irecv(&received[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &receives[1]);
    MPI_Isend(sent, 2, MPI_INT, 0, 0, MPI_COMM_SELF, &sends[0]);
    MPI_Isend(&sent[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &sends[1]);
    const int error = MPI_Waitall(2, receives, statuses);
    MPI_Waitall(2, sends, statuses);
    if (error == MPI_SUCCESS)
        puts("no error");
    MPI_Finalize();
    return error == MPI_SUCCESS || received[1] != 2;
}
