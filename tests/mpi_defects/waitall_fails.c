/*
 * MPI_Waitall where one of the operations fails, a message longer than its receive, with errors
 * returned: the others are completed, and MPI_ERR_IN_STATUS is returned (MPI 3.1, section 3.7.5).
 *
 *   mpirun -np 2 waitall_fails              at MPI_THREAD_SINGLE
 *   mpirun -np 2 waitall_fails multiple     at MPI_THREAD_MULTIPLE
 *
 * Exit status 0: right; 1: wrong.
 *
 * MPICH 4.0.2: right. Open MPI 4.1.4: never returns at MPI_THREAD_MULTIPLE.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* The first message is one value too long. */
static void send_both(void)
{
    const int sent[2] = {1, 2};
    MPI_Send(sent, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Send(&sent[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static int receive_both(void)
{
    int received[2] = {0, 0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&received[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; i++)
        for (int arrived = 0; !arrived;)
            MPI_Request_get_status(requests[i], &arrived, MPI_STATUS_IGNORE);
    const int error = MPI_Waitall(2, requests, statuses);
    if (error == MPI_SUCCESS)
        puts("no error");
    return error == MPI_SUCCESS || received[1] != 2;
}

int main(int argc, char **argv)
{
    int rank, level;
    const int multiple = argc > 1 && strcmp(argv[1], "multiple") == 0;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int wrong = 0;
    if (rank == 0)
        wrong = receive_both();
    else
        send_both();
    MPI_Finalize();
    return wrong;
}
