/*
 * Operations that fail while the program goes on: they count as calls, not as completed. Other
 * operations that the failing call completes count as completed.
 */
#include "flight.h"

/* Without MPI_Win_flush: Open MPI 4.1.4 crashes on a rank that doesn't exist
   (tests/mpi_defects/flush_nobody.c). */
static void failed_calls(void)
{
    struct watch watch;
    MPI_Request request = MPI_REQUEST_NULL;
    test_about("calls that fail at once");
    if (me == 1)
        return;
    watch_begin(&watch);
    check(MPI_Send(buffer, 10, MPI_BYTE, 99, TAG, one) != MPI_SUCCESS, "MPI_Send to rank 99 fails");
    check(MPI_Isend(buffer, 20, MPI_BYTE, 99, TAG, one, &request) != MPI_SUCCESS,
          "MPI_Isend to rank 99 fails");
    check(MPI_Bcast(buffer, 30, MPI_BYTE, 99, two) != MPI_SUCCESS, "MPI_Bcast from rank 99 fails");
    expect(&watch, PTTOPT, "one", "MPI_Send", in_flight(completed_messages(1, 10)));
    expect(&watch, PTTOPT, "one", "MPI_Isend", in_flight(completed_messages(1, 20)));
    expect(&watch, COLL, "two", "MPI_Bcast", (struct amounts){.calls = 1});
    watch_end(&watch);
}

static MPI_Request post_short(int tag)
{
    MPI_Request request;
    MPI_Irecv(buffer, 8, MPI_BYTE, 1, tag, one, &request);
    return request;
}

static void truncated(void)
{
    struct watch watch;
    test_about("receives of more than fits");
    if (me == 1) {
        for (int i = 0; i < 3; i++)
            send_bytes(10, one);
        send_bytes(5, two);
        return;
    }
    watch_begin(&watch);
    check(MPI_Recv(buffer, 8, MPI_BYTE, 1, TAG, one, MPI_STATUS_IGNORE) != MPI_SUCCESS,
          "MPI_Recv fails");
    MPI_Request request = post_short(TAG);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS, "MPI_Wait fails");
    request = post_short(TAG);
    int flag = 0, error = MPI_SUCCESS;
    while (!flag && error == MPI_SUCCESS)
        error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    check(error != MPI_SUCCESS, "MPI_Test fails");
    /* Its request may be that of a failed receive. */
    request = post_receive(two);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "two", "MPI_Irecv", completed_calls(1, 5));
    expect(&watch, PTTOPT, "one", "MPI_Recv", (struct amounts){.calls = 1});
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 2});
    watch_end(&watch);
}

enum { RECEIVES = 3, WRONG = 1 };

/* Waits until all have arrived, so that a call that looks at all finds all. */
static void let_all_arrive(const MPI_Request requests[RECEIVES])
{
    for (int i = 0; i < RECEIVES; i++)
        for (int flag = 0; !flag;)
            (void)PMPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
}

static int by_waitall(MPI_Request requests[RECEIVES], MPI_Status *statuses)
{
    return MPI_Waitall(RECEIVES, requests, statuses);
}

static int by_testall(MPI_Request requests[RECEIVES], MPI_Status *statuses)
{
    int flag = 0, error = MPI_SUCCESS;
    while (!flag && error == MPI_SUCCESS)
        error = MPI_Testall(RECEIVES, requests, &flag, statuses);
    return error;
}

static int by_waitsome(MPI_Request requests[RECEIVES], MPI_Status *statuses)
{
    int completed = 0, indices[RECEIVES], error = MPI_SUCCESS;
    while (completed != MPI_UNDEFINED && error == MPI_SUCCESS)
        error = MPI_Waitsome(RECEIVES, requests, &completed, indices, statuses);
    return error;
}

static int by_testsome(MPI_Request requests[RECEIVES], MPI_Status *statuses)
{
    int completed = 0, indices[RECEIVES], error = MPI_SUCCESS;
    while (completed != MPI_UNDEFINED && error == MPI_SUCCESS)
        error = MPI_Testsome(RECEIVES, requests, &completed, indices, statuses);
    return error;
}

/* One of three fails. The same call completes the other two or, in the case of MPI_Waitsome and
   MPI_Testsome, that call or an earlier one. */
static void one_of_several(const char *function,
                           int (*complete)(MPI_Request[RECEIVES], MPI_Status *), bool ignored)
{
    struct watch watch;
    test_about(function);
    if (me == 1) {
        for (int i = 0; i < RECEIVES; i++)
            PMPI_Send(buffer, i == WRONG ? 10 : i + 1, MPI_BYTE, 0, i, one);
        meet();
        return;
    }
    watch_begin(&watch);
    MPI_Request requests[RECEIVES];
    MPI_Status statuses[RECEIVES];
    for (int i = 0; i < RECEIVES; i++)
        requests[i] = post_short(i);
    let_all_arrive(requests);
    check(complete(requests, ignored ? no_statuses : statuses) != MPI_SUCCESS, "the call fails");
    for (int i = 0; i < RECEIVES; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Irecv",
           (struct amounts){.calls = RECEIVES, .completed = 2, .bytes = 4});
    watch_end(&watch);
    meet();
}

/* A call completes one of two sends that share a request, and fails: the other send is not
   affected. */
static void beside_shared_handles(void)
{
    struct watch watch;
    test_about("one of two sends that share a request, in a call that fails");
    if (me == 1) {
        send_bytes(10, one);
        receive_bytes(one);
        receive_bytes(two);
        return;
    }
    watch_begin(&watch);
    MPI_Request first[2] = {post_send(1, one), post_short(TAG)}, second = post_send(2, two);
    int flag = 0, error = MPI_SUCCESS;
    while (!flag && error == MPI_SUCCESS)
        error = MPI_Testall(2, first, &flag, no_statuses);
    check(error != MPI_SUCCESS, "MPI_Testall fails");
    for (int i = 0; i < 2; i++)
        if (first[i] != MPI_REQUEST_NULL)
            MPI_Wait(&first[i], MPI_STATUS_IGNORE);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Isend", completed_messages(1, 1));
    expect(&watch, PTTOPT, "two", "MPI_Isend", completed_messages(1, 2));
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 1});
    watch_end(&watch);
}

/* Open MPI 4.1's MPI_Waitall never returns at MPI_THREAD_MULTIPLE when one of its operations fails
   (tests/mpi_defects/waitall_fails.c). */
static bool can_fail_in_waitall(void)
{
#ifdef OPEN_MPI
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE;
#else
    return true;
#endif
}

void fly_failures(void)
{
    MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(two, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    failed_calls();
    meet();
    truncated();
    meet();
    beside_shared_handles();
    meet();
    for (int ignored = 0; ignored < 2; ignored++) {
        if (can_fail_in_waitall())
            one_of_several("one of several fails in MPI_Waitall", by_waitall, ignored);
        one_of_several("one of several fails in MPI_Testall", by_testall, ignored);
        one_of_several("one of several fails in MPI_Waitsome", by_waitsome, ignored);
        one_of_several("one of several fails in MPI_Testsome", by_testsome, ignored);
    }
    MPI_Comm_set_errhandler(one, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(two, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
