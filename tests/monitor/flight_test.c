/*
 * Operations in flight at the start and the end of snapshots, the limits of what can be followed,
 * failures, and wrong use of the monitor's own functions. On 2 ranks: rank 0 is monitored, rank 1
 * is its partner.
 *
 * usage: monitor_flight_test [multiple]
 *   multiple   at MPI_THREAD_MULTIPLE, for which the monitor has other code
 */
#include "flight.h"

#include <stdlib.h>

MPI_Comm one, two;

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

int main(int argc, char **argv)
{
    misuse_without_mpi("before MPI_Init");
    test_begin(&argc, &argv, false);
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
    int status = test_end();
    MPI_Finalize();
    misuse_without_mpi("after MPI_Finalize");
    if (test_failures() > 0)
        status = EXIT_FAILURE;
    return status;
}
