/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are rare in programs. From C and, over fortran_calls.c, from Fortran. On 2 ranks.
 */
#include "check.h"

#include <mpi.h>
#include <mpirtmon.h>
#include <stddef.h>
#include <string.h>

enum { ROWS = 64 };

static void set_handlers(MPI_Errhandler handler)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler); /* the one that is called since MPI 4 */
}

/* A buffer at address 0 is not MPI_IN_PLACE. Rank 0 sends all, and receives nothing. */
static void null_buffer(void)
{
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPIX_Monitor_row rows[ROWS];
    int rank, count = 0, value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int none[2] = {0, 0}, one[2] = {1, 0}, to_other[2] = {0, 1};
    MPIX_Start_monitor(&request, &handle, NULL);
    if (rank == 0)
        MPI_Alltoallv(&value, to_other, none, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(NULL, none, none, MPI_INT, &value, one, none, MPI_INT, MPI_COMM_WORLD);
    MPIX_End_monitor(&request, &handle);
    MPIX_Get_monitor(&request, rows, ROWS, &count);
    CHECK(count == 1 && rows[0].bytes == (rank == 0 ? 4 : 0));
}

/* A call that fails may leave the number of completed requests as it was. */
static void failed_waitsome(void)
{
    enum { COUNT = 2, MANY = 4096 };
    static int indices[MANY];
    static MPI_Status statuses[MANY];
    MPIX_Monitor handle = {.profile = 1, .pttopt = 1};
    MPIX_Monitor_request request;
    MPI_Request wrong[COUNT];
    int completed = MANY, of_test = MANY;
    memset(wrong, 0, sizeof wrong);
    MPIX_Start_monitor(&request, &handle, NULL);
    set_handlers(MPI_ERRORS_RETURN);
    CHECK(MPI_Waitsome(COUNT, wrong, &completed, indices, statuses) != MPI_SUCCESS);
    CHECK(MPI_Testsome(COUNT, wrong, &of_test, indices, statuses) != MPI_SUCCESS);
    set_handlers(MPI_ERRORS_ARE_FATAL);
    MPIX_End_monitor(&request, &handle);
}

static int free_inner(MPI_Comm comm, int key, void *inner, void *unused)
{
    (void)comm, (void)key, (void)unused;
    return MPI_Comm_free(inner);
}

/* MPI calls a function of the program that frees another communicator. Nothing is monitored then,
   so that one is remembered by its handle. */
static void freed_within_free(void)
{
    MPIX_Monitor handle = {.profile = 1, .comm = 1};
    MPIX_Monitor_request request;
    MPI_Comm outer, inner;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, NULL);
    MPI_Comm_set_attr(outer, key, &inner);
    MPI_Comm_free(&outer);
    MPI_Comm_free_keyval(&key);
    CHECK(outer == MPI_COMM_NULL && inner == MPI_COMM_NULL);
    CHECK(MPIX_Start_monitor(&request, &handle, NULL) == MPIX_MONITOR_SUCCESS);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_SUCCESS);
}

/* Open MPI replaces a persistent request that is started before its last message has left. */
static void replaced_request(void)
{
    enum { BYTES = 1 << 20, TIMES = 3 };
    static char message[BYTES], buffer[TIMES * (BYTES + MPI_BSEND_OVERHEAD)];
    MPIX_Monitor handle = {.profile = 1, .pttopt = 1};
    MPIX_Monitor_request request;
    MPIX_Monitor_row rows[ROWS];
    MPI_Request send = MPI_REQUEST_NULL;
    int rank, count = 0, size = 0;
    void *detached;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend_init(message, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &send);
    }
    for (int i = 0; i < TIMES; i++) {
        if (i == 1) /* the first start is not monitored */
            MPIX_Start_monitor(&request, &handle, NULL);
        if (rank == 0) {
            MPI_Start(&send);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
        }
    }
    MPIX_End_monitor(&request, &handle);
    PMPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < TIMES; i++)
        MPI_Recv(message, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        MPI_Request_free(&send);
        MPI_Buffer_detach((void *)&detached, &size);
        MPIX_Get_monitor(&request, rows, ROWS, &count);
        CHECK(count == 1 && rows[0].calls == TIMES - 1 && rows[0].completed == TIMES - 1);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    null_buffer();
    failed_waitsome();
    freed_within_free();
    replaced_request();
    MPI_Finalize();
    return check_failures > 0;
}
