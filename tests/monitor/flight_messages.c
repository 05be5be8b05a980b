/*
 * Messages in flight.
 */
#include "flight.h"

#include <stdio.h>
#include <stdlib.h>

/* Waits until the message has arrived at rank 0, unseen by the monitor. */
static void let_arrive(MPI_Request request)
{
    int flag = 0;
    while (!flag)
        PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
}

static void started_before(void)
{
    struct watch watch;
    test_about("posted before the start, completed inside");
    if (me == 1) {
        send_bytes(10, one);
        receive_bytes(two);
        return;
    }
    MPI_Request receive = post_receive(one), send = post_send(20, two);
    watch_begin(&watch);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    watch_end(&watch);
}

static void ended_after(void)
{
    struct watch watch;
    test_about("posted inside, completed after the end");
    if (me == 1) {
        send_bytes(10, one);
        receive_bytes(two);
        return;
    }
    watch_begin(&watch);
    MPI_Request receive = post_receive(one), send = post_long_send(20, two);
    let_arrive(receive);
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 1});
    expect(&watch, PTTOPT, "two", "MPI_Issend", in_flight(completed_messages(1, 20)));
    watch_end(&watch);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* The end is when the program learns of it, not when the request is freed. */
static void known_to_be_complete(void)
{
    struct watch watch;
    test_about("found complete by MPI_Request_get_status inside, completed after the end");
    if (me == 1) {
        send_bytes(10, one);
        return;
    }
    watch_begin(&watch);
    MPI_Request request = post_receive(one);
    for (int flag = 0; !flag;)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Irecv", completed_calls(1, 10));
    watch_end(&watch);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Each receive belongs to the snapshots that were active when it was posted, and to no others. */
static void overlapping(void)
{
    struct watch first, second, third;
    test_about("overlapping snapshots");
    if (me == 1) {
        for (int i = 1; i <= 4; i++)
            send_bytes(i, one);
        return;
    }
    MPI_Request requests[4];
    watch_begin(&first);
    requests[0] = post_receive(one);
    watch_begin(&second);
    requests[1] = post_receive(one);
    expect(&first, PTTOPT, "one", "MPI_Irecv",
           (struct amounts){.calls = 2, .completed = 1, .bytes = 1});
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    watch_end(&first);
    requests[2] = post_receive(one);
    watch_begin(&third);
    requests[3] = post_receive(one);
    MPI_Waitall(4, requests, no_statuses);
    expect(&second, PTTOPT, "one", "MPI_Irecv",
           (struct amounts){.calls = 3, .completed = 3, .bytes = 9});
    expect(&third, PTTOPT, "one", "MPI_Irecv",
           (struct amounts){.calls = 1, .completed = 1, .bytes = 4});
    watch_end(&second);
    watch_end(&third);
}

/* A receive that was in flight at the end of monitoring ends unseen, and its handle is used again:
   first for a receive that isn't counted, then for one that is. */
static void reused_while_off(void)
{
    struct watch watch;
    test_about("a handle used again while nothing was monitored");
    if (me == 1) {
        for (int i = 1; i <= 3; i++)
            send_bytes(i, i == 1 ? one : two);
        return;
    }
    watch_begin(&watch);
    MPI_Request request = post_receive(one);
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 1});
    watch_end(&watch);
    const MPI_Request before = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    request = post_receive(two);
    if (request != before)
        printf("note: this library did not give the same request again\n");
    watch_begin(&watch);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    request = post_receive(two);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "two", "MPI_Irecv", completed_calls(1, 3));
    watch_end(&watch);
}

/* The same, but a snapshot of collectives is active all the time. */
static void reused_while_unwatched(void)
{
    struct watch watch, collectives;
    test_about("a handle used again while only collectives were monitored");
    if (me == 1) {
        for (int i = 1; i <= 2; i++)
            send_bytes(i, i == 1 ? one : two);
        return;
    }
    watch_begin_with(&collectives, (MPIX_Monitor){.profile = 1, .coll = 1});
    watch_begin(&watch);
    MPI_Request request = post_receive(one);
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 1});
    watch_end(&watch);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    request = post_receive(two);
    watch_begin(&watch);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    watch_end(&watch);
    watch_end(&collectives);
}

/* Whether the MPI library gives one request to all sends that are complete when they are posted. */
static bool shares_requests(const MPI_Request *requests)
{
    if (requests[0] != requests[1])
        printf("note: this library did not give one request to several sends\n");
    return requests[0] == requests[1];
}

/* Sends that are complete at once may share a request. They end when they are posted. A send that
   was posted before the snapshot and is waited for in it ends no other send. */
static void shared_handles(void)
{
    enum { SENDS = 4 };
    struct watch watch, all;
    test_about("sends that share a request");
    if (me == 1) {
        receive_bytes(one);
        receive_bytes(one);
        receive_bytes(two);
        receive_bytes(one);
        return;
    }
    watch_begin(&all);
    MPI_Request before = post_send(1, one);
    watch_begin(&watch);
    MPI_Request requests[SENDS - 1] = {post_send(1, one), post_send(2, two),
                                       post_long_send(3, one)};
    const bool at_once = shares_requests(requests);
    MPI_Wait(&before, MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Isend",
           at_once ? completed_messages(1, 1) : in_flight(completed_messages(1, 1)));
    expect(&watch, PTTOPT, "one", "MPI_Issend", in_flight(completed_messages(1, 3)));
    expect(&watch, PTTOPT, "two", "MPI_Isend",
           at_once ? completed_messages(1, 2) : in_flight(completed_messages(1, 2)));
    watch_end(&watch);
    int flag = 0;
    for (int i = 0; i < 2; i++)
        MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(SENDS - 1, requests, no_statuses);
    expect(&all, PTTOPT, "one", "MPI_Isend", completed_messages(2, 1));
    expect(&all, PTTOPT, "one", "MPI_Issend", completed_messages(1, 3));
    expect(&all, PTTOPT, "two", "MPI_Isend", completed_messages(1, 2));
    watch_end(&all);
}

/* Such sends are told apart when a call looks at several and completes some. `look` completes the
   send on `one`. */
static void keep_order(const char *what, void (*look)(MPI_Request requests[4]))
{
    struct watch watch;
    test_about(what);
    if (me == 1) {
        meet();
        send_bytes(5, one);
        for (int i = 0; i < 3; i++)
            receive_bytes(i == 0 ? one : two);
        return;
    }
    watch_begin(&watch);
    MPI_Request requests[4] = {post_send(1, one), post_send(2, two), post_send(3, two),
                               post_receive(one)};
    const bool at_once = shares_requests(requests);
    look(requests);
    expect(&watch, PTTOPT, "one", "MPI_Isend", completed_messages(1, 1));
    expect(&watch, PTTOPT, "two", "MPI_Isend",
           (struct amounts){
               .calls = 2, .completed = at_once ? 2 : 0, .bytes = 5, .small = 2, .small_bytes = 5});
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 1});
    watch_end(&watch);
    meet();
    MPI_Waitall(4, requests, no_statuses);
}

static void by_testall(MPI_Request requests[4])
{
    int flag = 0;
    for (int i = 0; i < 3; i++)
        MPI_Testall(4, requests, &flag, no_statuses);
    check(!flag, "the receive can't be complete");
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* Also looks at the receive alone. */
static void by_waitany(MPI_Request requests[4])
{
    int index = -1, flag = 0;
    MPI_Test(&requests[3], &flag, MPI_STATUS_IGNORE);
    MPI_Request several[2] = {requests[3], requests[0]};
    MPI_Waitany(2, several, &index, MPI_STATUS_IGNORE);
    check_equal("the index", index, 1);
    requests[0] = several[1];
}

static void by_testany(MPI_Request requests[4])
{
    int index = -1;
    for (int flag = 0; !flag;)
        MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
    check_equal("the index", index, 0);
}

static void cancelled_too_late(void)
{
    struct watch watch;
    test_about("a receive that is cancelled when it is complete already");
    if (me == 1) {
        send_bytes(10, one);
        return;
    }
    watch_begin(&watch);
    MPI_Request request = post_receive(one);
    let_arrive(request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Irecv", completed_calls(1, 10));
    watch_end(&watch);
}

static void cancelled(void)
{
    struct watch watch;
    test_about(
        "cancelled receives, one completed by MPI_Test and a status, one by MPI_Waitall without");
    if (me == 1)
        return;
    watch_begin(&watch);
    MPI_Request requests[2] = {post_receive(one), post_receive(one)};
    MPI_Status status;
    int flag = 0;
    MPI_Cancel(&requests[0]);
    while (!flag)
        MPI_Test(&requests[0], &flag, &status);
    MPI_Cancel(&requests[1]);
    MPI_Waitall(2, requests, no_statuses);
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 2});
    watch_end(&watch);
}

/* The handle of the freed request is used again. */
static void freed(void)
{
    struct watch watch;
    test_about("MPI_Request_free of an active request");
    if (me == 1) {
        receive_bytes(one);
        receive_bytes(two);
        return;
    }
    watch_begin(&watch);
    MPI_Request request = post_long_send(10, one);
    MPI_Request_free(&request);
    request = post_send(20, two);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Issend", in_flight(completed_messages(1, 10)));
    expect(&watch, PTTOPT, "two", "MPI_Isend", completed_messages(1, 20));
    watch_end(&watch);
}

/* More requests than the monitor can follow all count as calls, and those that it could follow as
   completed. Afterwards it can follow as many again. */
static void too_many(void)
{
    enum { FOLLOWED = 1 << 16, POSTED = FOLLOWED + 1000, ALL_FOLLOWED = 2 * FOLLOWED };
    struct watch watch;
    test_about("more requests than can be followed");
    if (me == 1) {
        for (int i = 0; i < 2 * POSTED; i++)
            send_bytes(1, one);
        return;
    }
    MPI_Request *const requests = malloc(POSTED * sizeof *requests);
    if (requests == NULL)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    watch_begin(&watch);
    for (int times = 0; times < 2; times++) {
        for (int i = 0; i < POSTED; i++)
            requests[i] = post_receive(one);
        MPI_Waitall(POSTED, requests, no_statuses);
    }
    expect(&watch, PTTOPT, "one", "MPI_Irecv",
           (struct amounts){
               .calls = (int64_t)2 * POSTED, .completed = ALL_FOLLOWED, .bytes = ALL_FOLLOWED});
    expect_warning(&watch, MPIX_MONITOR_WARNING_UNTRACKED);
    watch_end(&watch);
    free(requests);
}

void fly_messages(void)
{
    static void (*const flights[])(void) = {
        started_before, ended_after,      known_to_be_complete,
        overlapping,    reused_while_off, reused_while_unwatched,
        shared_handles, cancelled,        cancelled_too_late,
        freed,          too_many};
    run_each(flights, sizeof flights / sizeof *flights);
    keep_order("sends that share a request, and MPI_Testall", by_testall);
    keep_order("sends that share a request, and MPI_Waitany", by_waitany);
    keep_order("sends that share a request, and MPI_Testany", by_testany);
    meet();
}
