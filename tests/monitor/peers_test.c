/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers of each rank under a real MPI library, in the rows that MPIX_Get_monitor copies: an
 * intercommunicator, a duplicate, matched probes, tests, a put ended by a fence, a cancelled
 * receive and MPI_PROC_NULL. A second snapshot begins in between. Run on 4 ranks.
 */
#include "check.h"

#include "mpirtmon.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, ROWS_MAX = 64, WAYS = 4 };

static const char *const ways[WAYS] = {"sends", "receives", "puts", "gets"};

struct amounts {
    int64_t messages, bytes;
};

static struct amounts truth[WAYS][RANKS], later[WAYS][RANKS];
static bool is_later;
static int rank;
static char sent[64], received[64];

static void expect(int way, int peer, int bytes)
{
    truth[way][peer].messages++;
    truth[way][peer].bytes += bytes;
    later[way][peer].messages += is_later;
    later[way][peer].bytes += is_later ? bytes : 0;
}

/* Even ranks are one group, odd ones the other: rank r sends to r ^ 1. */
static void between_groups(void)
{
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    MPI_Request request;
    MPI_Isend(sent, 7, MPI_CHAR, rank / 2, 0, both, &request);
    MPI_Recv(received, 64, MPI_CHAR, MPI_ANY_SOURCE, 0, both, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(0, rank ^ 1, 7);
    expect(1, rank ^ 1, 7);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void matched(int to, int from)
{
    MPI_Request request;
    MPI_Message message;
    int index;
    MPI_Isend(sent, 11, MPI_CHAR, to, 0, MPI_COMM_WORLD, &request);
    MPI_Mprobe(from, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(received, 64, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
    expect(0, to, 11);
    expect(1, from, 11);
}

static void tested(int to, int from)
{
    MPI_Comm duplicate;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int indices[2], completed, done = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Irecv(received, 64, MPI_CHAR, MPI_ANY_SOURCE, 0, duplicate, &requests[0]);
    MPI_Isend(sent, 13, MPI_CHAR, to, 0, duplicate, &requests[1]);
    for (; done<2; done += completed> 0 ? completed : 0)
        MPI_Testsome(2, requests, &completed, indices, statuses);
    expect(0, to, 13);
    expect(1, from, 13);
    MPI_Comm_free(&duplicate);
}

/* A message that is in flight when the second snapshot starts, so it counts in the first alone. */
static void begin_exchange(int to, int from, MPI_Request requests[2])
{
    static char data[64];
    MPI_Irecv(data, 64, MPI_CHAR, from, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 17, MPI_CHAR, to, 1, MPI_COMM_WORLD, &requests[1]);
    expect(0, to, 17);
    expect(1, from, 17);
}

static void put(int to)
{
    static char memory[64];
    MPI_Win window;
    MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(sent, 5, MPI_CHAR, to, 0, 5, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    expect(2, to, 5);
}

static void nowhere(void)
{
    MPI_Request request;
    MPI_Send(sent, 9, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(received, 9, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(received, 9, MPI_CHAR, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void check_rows(const MPIX_Monitor_request *request, const struct amounts of[WAYS][RANKS])
{
    static MPIX_Monitor_row rows[ROWS_MAX];
    int count, peers = 0, expected = 0;
    CHECK(MPIX_Get_monitor(request, rows, ROWS_MAX, &count) == MPIX_MONITOR_SUCCESS);
    CHECK(count <= ROWS_MAX);
    for (int way = 0; way < WAYS; way++)
        for (int peer = 0; peer < RANKS; peer++)
            expected += of[way][peer].messages > 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].kind, "peer") != 0)
            continue;
        int way = 0;
        while (way < WAYS - 1 && strcmp(rows[i].operation, ways[way]) != 0)
            way++;
        const int peer = rows[i].peer;
        CHECK(rows[i].rank == rank && peer >= 0 && peer < RANKS);
        if (peer < 0 || peer >= RANKS)
            continue;
        CHECK(rows[i].calls == of[way][peer].messages);
        CHECK(rows[i].bytes == of[way][peer].bytes);
        CHECK(rows[i].in_calls_s > 0.0);
        peers++;
    }
    CHECK(peers == expected);
}

int main(int argc, char **argv)
{
    MPIX_Monitor handles[2] = {MPIX_MONITOR_DEFAULTS, MPIX_MONITOR_DEFAULTS};
    MPIX_Monitor_request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        handles[i].profile = handles[i].peers = 1;
    CHECK(MPIX_Start_monitor(&requests[0], &handles[0], NULL) == MPIX_MONITOR_SUCCESS);
    const int next = (rank + 1) % RANKS, previous = (rank + RANKS - 1) % RANKS;
    between_groups();
    matched(previous, next);
    nowhere();
    MPI_Request exchange[2];
    MPI_Status statuses[2];
    begin_exchange(next, previous, exchange);
    is_later = true;
    CHECK(MPIX_Start_monitor(&requests[1], &handles[1], NULL) == MPIX_MONITOR_SUCCESS);
    MPI_Waitall(2, exchange, statuses);
    tested(next, previous);
    put((rank + 2) % RANKS);
    CHECK(MPIX_End_monitor(&requests[1], &handles[1]) == MPIX_MONITOR_SUCCESS);
    is_later = false;
    matched(next, previous);
    CHECK(MPIX_End_monitor(&requests[0], &handles[0]) == MPIX_MONITOR_SUCCESS);
    check_rows(&requests[0], truth);
    check_rows(&requests[1], later);
    MPI_Finalize();
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
