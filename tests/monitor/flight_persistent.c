/*
 * Persistent requests, which may be made, started and completed in different snapshots.
 */
#include "flight.h"

static MPI_Request make_send(int bytes, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Send_init(buffer, bytes, MPI_BYTE, 1, TAG, comm, &request);
    return request;
}

static MPI_Request make_receive(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Recv_init(buffer, 64, MPI_BYTE, 1, TAG, comm, &request);
    return request;
}

static void start_and_wait(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void made_while_off(void)
{
    struct watch watch;
    test_about("made while off, started while on");
    if (me == 1) {
        for (int i = 0; i < 3; i++)
            receive_bytes(one);
        return;
    }
    MPI_Request request = make_send(10, one);
    start_and_wait(&request);
    watch_begin(&watch);
    start_and_wait(&request);
    start_and_wait(&request);
    expect(&watch, PTTOPT, "one", "MPI_Send_init", completed_messages(2, 10));
    watch_end(&watch);
    MPI_Request_free(&request);
}

static void started_elsewhere(void)
{
    struct watch watch;
    test_about("started and completed in different snapshots");
    if (me == 1) {
        for (int i = 1; i <= 3; i++)
            send_bytes(i, one);
        return;
    }
    MPI_Request request = make_receive(one);
    MPI_Start(&request);
    watch_begin(&watch);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    watch_end(&watch);

    watch_begin(&watch);
    MPI_Start(&request);
    expect(&watch, PTTOPT, "one", "MPI_Recv_init", (struct amounts){.calls = 1});
    watch_end(&watch);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    watch_begin(&watch);
    start_and_wait(&request);
    expect(&watch, PTTOPT, "one", "MPI_Recv_init", completed_calls(1, 3));
    watch_end(&watch);
    MPI_Request_free(&request);
}

/* Inactive requests and MPI_REQUEST_NULL are complete, and are no operations. */
static void inactive(void)
{
    enum { REQUESTS = 4 };
    struct watch watch;
    test_about("inactive requests among active ones");
    if (me == 1) {
        receive_bytes(two);
        receive_bytes(one);
        receive_bytes(two);
        return;
    }
    watch_begin(&watch);
    MPI_Request requests[REQUESTS] = {make_send(10, one), make_send(20, two), MPI_REQUEST_NULL,
                                      make_send(30, one)};
    int flag = 0, completed = -1, indices[REQUESTS];
    MPI_Start(&requests[1]);
    MPI_Waitall(REQUESTS, requests, no_statuses);
    MPI_Startall(1, &requests[3]);
    while (!flag)
        MPI_Testall(REQUESTS, requests, &flag, no_statuses);
    MPI_Waitsome(REQUESTS, requests, &completed, indices, no_statuses);
    check_equal("completed requests when all are inactive", completed, MPI_UNDEFINED);
    MPI_Waitany(REQUESTS, requests, &completed, MPI_STATUS_IGNORE);
    check_equal("the index when all are inactive", completed, MPI_UNDEFINED);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    start_and_wait(&requests[1]);
    expect(&watch, PTTOPT, "two", "MPI_Send_init", completed_messages(2, 20));
    expect(&watch, PTTOPT, "one", "MPI_Send_init", completed_messages(1, 30));
    watch_end(&watch);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Request_free(&requests[3]);
}

/* The handle of a freed persistent request is given to another one. */
static void made_again(void)
{
    struct watch watch;
    test_about("a persistent request's handle used again");
    if (me == 1) {
        send_bytes(5, two);
        receive_bytes(two);
        return;
    }
    watch_begin(&watch);
    MPI_Request request = make_receive(one);
    MPI_Request_free(&request);
    request = make_receive(two);
    start_and_wait(&request);
    MPI_Request_free(&request);
    request = make_send(20, two);
    start_and_wait(&request);
    MPI_Request_free(&request);
    expect(&watch, PTTOPT, "two", "MPI_Recv_init", completed_calls(1, 5));
    expect(&watch, PTTOPT, "two", "MPI_Send_init", completed_messages(1, 20));
    watch_end(&watch);
}

/* The program has freed the request's communicator, whose handle is given to another one. */
static void on_freed_communicator(void)
{
    struct watch watch;
    test_about("a persistent request whose communicator was freed");
    MPI_Comm brief = make_named("brief");
    MPI_Request request;
    if (me == 0)
        request = make_send(10, brief);
    else
        PMPI_Recv_init(buffer, 64, MPI_BYTE, 0, TAG, brief, &request);
    MPI_Comm_free(&brief);
    MPI_Comm later = make_named("later");
    watch_begin(&watch);
    if (me == 0)
        start_and_wait(&request);
    else {
        PMPI_Start(&request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(later);
    if (me == 0)
        expect(&watch, PTTOPT, "brief", "MPI_Send_init", completed_messages(1, 10));
    expect(&watch, COLL, "later", "MPI_Barrier", completed_calls(1, 0));
    watch_end(&watch);
    MPI_Request_free(&request);
    MPI_Comm_free(&later);
}

void fly_persistent(void)
{
    static void (*const flights[])(void) = {made_while_off, started_elsewhere, inactive, made_again,
                                            on_freed_communicator};
    run_each(flights, sizeof flights / sizeof *flights);
}
