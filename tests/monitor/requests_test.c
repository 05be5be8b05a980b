/*
 * Requests that MPI hands out again while an operation of theirs seems to be in flight: because
 * complete operations share a request, or because nobody saw the operation's end. On 2 ranks: rank
 * 0 is monitored, rank 1 is its partner.
 *
 * usage: monitor_requests_test [multiple]
 *   multiple   at MPI_THREAD_MULTIPLE, for which the monitor has other code
 */
#include "expect.h"
#include "shared_sends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_MS = 60, SENDS = 4, PARTS = 3 };
#define PAUSE_US (PAUSE_MS * 1e3)

static MPI_Comm one, two;

/* The row of an operation on a communicator. It must exist. */
static MPIX_Monitor_row row_of(const struct watch *watch, const char *comm, const char *operation)
{
    MPIX_Monitor_row found = {.calls = 0};
    int count = 0;
    MPIX_Monitor_row *const rows = rows_of(&watch->request, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].comm, comm) == 0 && strcmp(rows[i].operation, operation) == 0)
            found = rows[i];
    free(rows);
    check(found.calls > 0, "the row is there");
    return found;
}

static void check_time(const MPIX_Monitor_row *row, double from_us, double below_us)
{
    char what[256];
    (void)snprintf(what, sizeof what, "%s on %s: %g us at most, should be from %g to %g us",
                   row->operation, row->comm, row->max_us, from_us, below_us);
    check(row->max_us >= from_us && row->max_us < below_us, what);
}

/* Sends on two communicators, which are waited for long after, the last one first. Each ends where
   it is posted. */
static void shared(const char *what)
{
    struct watch watch;
    test_about(what);
    if (me == 1) {
        for (int i = 0; i < SENDS; i++)
            receive_bytes(i % 2 == 0 ? one : two);
        return;
    }
    MPI_Request requests[SENDS];
    watch_begin(&watch);
    for (int i = 0; i < SENDS; i++) {
        MPI_Isend(buffer, i + 1, MPI_BYTE, partner, TAG, i % 2 == 0 ? one : two, &requests[i]);
        sleep_ms(PAUSE_MS);
    }
    check(requests[0] == requests[1], "the sends share a request");
    for (int i = SENDS - 1; i >= 0; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Isend", completed_messages(1, 1));
    expect(&watch, PTTOPT, "one", "MPI_Isend", completed_messages(1, 3));
    expect(&watch, PTTOPT, "two", "MPI_Isend", completed_messages(1, 2));
    expect(&watch, PTTOPT, "two", "MPI_Isend", completed_messages(1, 4));
    watch_end(&watch);
    const MPIX_Monitor_row rows[] = {row_of(&watch, "one", "MPI_Isend"),
                                     row_of(&watch, "two", "MPI_Isend")};
    for (int i = 0; i < 2; i++)
        check_time(&rows[i], 0, PAUSE_US / 2);
}

/* Pairs of sends, each pair of a kind with a request of its own. */
static void kinds(void)
{
    struct watch watch;
    test_about("many kinds of sends that share a request each");
    if (me == 1) {
        for (int i = 0; i < 2 * SHARED_KINDS; i++)
            receive_bytes(one);
        return;
    }
    MPI_Request requests[SHARED_KINDS][2];
    watch_begin(&watch);
    for (int kind = 0; kind < SHARED_KINDS; kind++) {
        shared_sends_use(kind);
        for (int i = 0; i < 2; i++)
            MPI_Isend(buffer, 1, MPI_BYTE, partner, TAG, one, &requests[kind][i]);
    }
    sleep_ms(PAUSE_MS);
    for (int kind = SHARED_KINDS - 1; kind >= 0; kind--)
        for (int i = 0; i < 2; i++)
            MPI_Wait(&requests[kind][i], MPI_STATUS_IGNORE);
    expect(&watch, PTTOPT, "one", "MPI_Isend", completed_messages(INT64_C(2) * SHARED_KINDS, 1));
    watch_end(&watch);
    const MPIX_Monitor_row row = row_of(&watch, "one", "MPI_Isend");
    check_time(&row, 0, PAUSE_US / 2);
}

/* Ends the first operation unseen, so that its request is handed out again, and the others seen. */
static void wait_for(MPI_Request *request, int operation)
{
    if (operation == 0)
        PMPI_Wait(request, MPI_STATUS_IGNORE);
    else
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Sends that are complete before they are waited for, but not when they are posted. The later ones
   end when they are waited for. */
static void unseen_send(void)
{
    struct watch watch;
    test_about("the end of a send that nobody saw");
    if (me == 1) {
        for (int i = 0; i < PARTS; i++) {
            sleep_ms(PAUSE_MS);
            receive_bytes(i == 0 ? one : two);
        }
        return;
    }
    watch_begin(&watch);
    for (int i = 0; i < PARTS; i++) {
        MPI_Request request;
        MPI_Issend(buffer, 8, MPI_BYTE, partner, TAG, i == 0 ? one : two, &request);
        wait_for(&request, i);
    }
    expect(&watch, PTTOPT, "one", "MPI_Issend", in_flight(completed_messages(1, 8)));
    expect(&watch, PTTOPT, "two", "MPI_Issend", completed_messages(PARTS - 1, 8));
    expect_warning(&watch, MPIX_MONITOR_WARNING_UNTRACKED);
    watch_end(&watch);
    const MPIX_Monitor_row row = row_of(&watch, "two", "MPI_Issend");
    check_time(&row, PAUSE_US / 2, 1e9);
    check(row.total_s * 1e6 >= PAUSE_US * (PARTS - 1) / 2, "all of them took as long");
}

/* The same with receives: the bytes of the later ones are their own. */
static void unseen_receive(void)
{
    struct watch watch;
    test_about("the end of a receive that nobody saw");
    if (me == 1) {
        for (int i = 0; i < PARTS; i++)
            send_bytes(10 * (i + 1), i == 0 ? one : two);
        return;
    }
    watch_begin(&watch);
    for (int i = 0; i < PARTS; i++) {
        MPI_Request request;
        MPI_Irecv(buffer, BUFFER_BYTES, MPI_BYTE, partner, TAG, i == 0 ? one : two, &request);
        wait_for(&request, i);
    }
    expect(&watch, PTTOPT, "one", "MPI_Irecv", (struct amounts){.calls = 1});
    expect(&watch, PTTOPT, "two", "MPI_Irecv", completed_calls(PARTS - 1, 20 + 30));
    expect_warning(&watch, MPIX_MONITOR_WARNING_UNTRACKED);
    watch_end(&watch);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, false);
    one = make_named("one");
    two = make_named("two");

    unseen_send();
    meet();
    unseen_receive();
    meet();
    if (me == 0)
        shared_sends_begin();
    shared("sends that share a request which nobody knows");
    meet();
    shared("sends that share a request, once more");
    meet();
    kinds();
    meet();
    if (me == 0)
        shared_sends_end();
    unseen_send();
    meet();

    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
    const int status = test_end();
    MPI_Finalize();
    return status;
}
