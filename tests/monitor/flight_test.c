/*
 * Operations in flight at the start and the end of snapshots, the limits of what can be followed,
 * failures, and the wrong use of the monitor's own functions. On 2 ranks; rank 0 is watched, rank 1
 * is the other end.
 *
 * usage: monitor_flight_test [multiple]
 *   multiple   at MPI_THREAD_MULTIPLE, where the monitor goes another way
 */
#include "flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

MPI_Comm one, two;
char *buffer;

void send_bytes(int bytes, MPI_Comm comm)
{
    PMPI_Send(buffer, bytes, MPI_BYTE, 0, TAG, comm);
}

void receive_bytes(MPI_Comm comm)
{
    PMPI_Recv(buffer, BUFFER_BYTES, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
}

MPI_Request post_receive(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Irecv(buffer, 64, MPI_BYTE, 1, TAG, comm, &request);
    return request;
}

MPI_Request post_send(int bytes, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Isend(buffer, bytes, MPI_BYTE, 1, TAG, comm, &request);
    return request;
}

MPI_Request post_long_send(int bytes, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Issend(buffer, bytes, MPI_BYTE, 1, TAG, comm, &request);
    return request;
}

void sleep_ms(int ms)
{
    const struct timespec duration = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    (void)nanosleep(&duration, NULL);
}

int main(int argc, char **argv)
{
    misuse_without_mpi("before MPI_Init");
    if (argc > 1 && strcmp(argv[1], "multiple") == 0) {
        int provided = 0;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        if (provided != MPI_THREAD_MULTIPLE)
            PMPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        MPI_Init(&argc, &argv);
    }
    test_begin();
    buffer = calloc(BUFFER_BYTES, 1);
    if (buffer == NULL)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    one = make_named("one");
    two = make_named("two");

    fly_messages();
    fly_persistent();
    fly_failures();
    fly_windows();
    fly_snapshots();
    misuse();
    fly_communicators();

    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
    free(buffer);
    int status = test_end();
    MPI_Finalize();
    misuse_without_mpi("after MPI_Finalize");
    if (test_failures() > 0)
        status = EXIT_FAILURE;
    return status;
}
