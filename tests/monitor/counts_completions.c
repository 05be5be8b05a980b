/*
 * The calls that complete operations, each on receives of known sizes: fewer and more than the
 * monitor has room for on its stack, with statuses and without.
 */
#include "counts.h"

#include <stddef.h>
#include <stdio.h>

enum { MANY = 150 };

static MPI_Request requests[MANY];
static MPI_Status statuses[MANY];
static int indices[MANY];

/* Completes all requests, with statuses if `wanted`. Receive i has i + 1 bytes. */
typedef void complete(int count, bool wanted);

static MPI_Status *one(bool wanted) { return wanted ? statuses : MPI_STATUS_IGNORE; }

static MPI_Status *all(bool wanted) { return wanted ? statuses : no_statuses; }

static void check_bytes(bool wanted, const MPI_Status *status, int index)
{
    int bytes = -1;
    if (!wanted)
        return;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    check_equal("the bytes in the status", bytes, index + 1);
}

static void check_all_bytes(bool wanted, int count)
{
    for (int i = 0; i < count; i++)
        check_bytes(wanted, &statuses[i], i);
}

static void wait_each(int count, bool wanted)
{
    for (int i = count - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], one(wanted));
        check_bytes(wanted, statuses, i);
    }
}

static void test_each(int count, bool wanted)
{
    for (int i = 0; i < count; i++) {
        for (int flag = 0; !flag;)
            MPI_Test(&requests[i], &flag, one(wanted));
        check_bytes(wanted, statuses, i);
    }
}

/* The first question that says so completes the operation; asking again or waiting afterwards is
   not another completion. */
static void ask_each(int count, bool wanted)
{
    exercised("MPI_Wait");
    for (int i = 0; i < count; i++) {
        for (int flag = 0; !flag;)
            MPI_Request_get_status(requests[i], &flag, one(wanted));
        check_bytes(wanted, statuses, i);
        int again = 0;
        MPI_Request_get_status(requests[i], &again, MPI_STATUS_IGNORE);
        check(again, "what is complete stays so");
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

static void wait_all(int count, bool wanted)
{
    MPI_Waitall(count, requests, all(wanted));
    check_all_bytes(wanted, count);
}

static void test_all(int count, bool wanted)
{
    for (int flag = 0; !flag;)
        MPI_Testall(count, requests, &flag, all(wanted));
    check_all_bytes(wanted, count);
}

static void wait_any(int count, bool wanted)
{
    for (int i = 0; i <= count; i++) {
        int index = -1;
        MPI_Waitany(count, requests, &index, one(wanted));
        if (i == count)
            check_equal("the index when no request is left", index, MPI_UNDEFINED);
        else
            check_bytes(wanted, statuses, index);
    }
}

static void test_any(int count, bool wanted)
{
    for (int done = 0; done <= count;) {
        int index = -1, flag = 0;
        MPI_Testany(count, requests, &index, &flag, one(wanted));
        done += flag;
        if (flag && index != MPI_UNDEFINED)
            check_bytes(wanted, statuses, index);
    }
}

static void complete_some(int count, bool wanted,
                          int (*call)(int, MPI_Request[], int *, int[], MPI_Status[]))
{
    int completed = 0;
    while (call(count, requests, &completed, indices, all(wanted)), completed != MPI_UNDEFINED)
        for (int i = 0; i < completed; i++)
            check_bytes(wanted, &statuses[i], indices[i]);
}

static void wait_some(int count, bool wanted) { complete_some(count, wanted, MPI_Waitsome); }

static void test_some(int count, bool wanted) { complete_some(count, wanted, MPI_Testsome); }

static const struct completion {
    const char *function;
    complete *complete;
} completions[] = {
    {"MPI_Wait", wait_each},   {"MPI_Test", test_each},     {"MPI_Request_get_status", ask_each},
    {"MPI_Waitall", wait_all}, {"MPI_Testall", test_all},   {"MPI_Waitany", wait_any},
    {"MPI_Testany", test_any}, {"MPI_Waitsome", wait_some}, {"MPI_Testsome", test_some},
};

/* Rank 1 starts sending when the receives are posted, so the first calls find none or some of them
   complete. */
static void count_completion(const struct completion *completion, int count, bool wanted)
{
    char what[64];
    (void)snprintf(what, sizeof what, "%d requests, statuses %s", count,
                   wanted ? "wanted" : "ignored");
    case_begin(completion->function, what);
    if (me == 0) {
        for (int i = 0; i < count; i++)
            MPI_Irecv(result + (ptrdiff_t)i * MANY, MANY, MPI_BYTE, 1, i, pair, &requests[i]);
        meet();
        completion->complete(count, wanted);
        for (int i = 0; i < count; i++)
            check(requests[i] == MPI_REQUEST_NULL, "the request is null");
        case_expects(PTTOPT, "pair", "MPI_Irecv", completed_calls(count, count * (count + 1) / 2));
    } else {
        meet();
        for (int i = 0; i < count; i++)
            PMPI_Send(data, i + 1, MPI_BYTE, 0, i, pair);
    }
    case_end();
}

/* Persistent requests, started together; then inactive ones among active ones. */
static void count_startall(int count)
{
    char what[64];
    (void)snprintf(what, sizeof what, "%d requests", count);
    case_begin("MPI_Startall", what);
    for (int i = 0; i < count; i++)
        if (me == 0)
            MPI_Recv_init(result + (ptrdiff_t)i * MANY, MANY, MPI_BYTE, 1, i, pair, &requests[i]);
        else
            MPI_Send_init(data, i + 1, MPI_BYTE, 0, i, pair, &requests[i]);
    MPI_Startall(count, requests);
    MPI_Waitall(count, requests, no_statuses);
    MPI_Start(&requests[1]);
    MPI_Waitall(count, requests, statuses);
    MPI_Waitall(count, requests, no_statuses);
    for (int i = 0; i < count; i++)
        MPI_Request_free(&requests[i]);
    const int bytes = count * (count + 1) / 2 + 2;
    exercised("MPI_Request_free");
    exercised("MPI_Start");
    if (me == 0)
        case_expects(PTTOPT, "pair", "MPI_Recv_init", completed_calls(count + 1, bytes));
    else
        case_expects(PTTOPT, "pair", "MPI_Send_init",
                     (struct amounts){.calls = count + 1,
                                      .completed = count + 1,
                                      .bytes = bytes,
                                      .small = count + 1,
                                      .small_bytes = bytes});
    case_end();
}

/* A cancelled receive is not completed. */
static void count_cancelled(void)
{
    MPI_Request request;
    int cancelled = 0;
    case_begin("MPI_Cancel", "a receive that nobody sends to");
    if (me == 0) {
        MPI_Irecv(result, 8, MPI_BYTE, 1, TAG, pair, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, statuses);
        MPI_Test_cancelled(statuses, &cancelled);
        check(cancelled, "it is cancelled");
        case_expects(PTTOPT, "pair", "MPI_Irecv", (struct amounts){.calls = 1});
    }
    case_end();
}

void count_completions(void)
{
    for (size_t i = 0; i < ELEMENTS(completions); i++)
        for (int wanted = 0; wanted < 2; wanted++) {
            count_completion(&completions[i], 1, wanted);
            count_completion(&completions[i], 64, wanted);
            count_completion(&completions[i], 65, !wanted);
            count_completion(&completions[i], MANY, wanted);
        }
    count_cancelled();
    count_startall(3);
    count_startall(MANY);
}
