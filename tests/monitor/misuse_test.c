/*
 * Wrong use of the monitor's functions, and their limits. All of it is local.
 */
#include "check.h"

#include <math.h>
#include <mpi.h>
#include <mpirtmon.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Before MPI_Init or after MPI_Finalize. */
static void without_mpi(void)
{
    MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request = {.serial = 1};
    CHECK(MPIX_Start_monitor(&request, &handle, NULL) == MPIX_MONITOR_ERR_MPI);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_MPI);
    CHECK(MPIX_Start_monitor(NULL, &handle, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
}

/* The rows of a snapshot or, with `warnings`, its warnings. */
static int get(bool warnings, const MPIX_Monitor_request *request, void *into, int capacity,
               int *count)
{
    return warnings ? MPIX_Get_monitor_warnings(request, into, capacity, count)
                    : MPIX_Get_monitor(request, into, capacity, count);
}

static void wrong_arguments(void)
{
    static const MPIX_Monitor wrong[] = {{.large_bytes = -1},
                                         {.timeout_us = -1e-9},
                                         {.timeout_us = (double)NAN},
                                         {.timeout_us = (double)INFINITY}};
    MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request = {.serial = 0};
    MPIX_Monitor_row row;
    MPIX_Monitor_warning warning;
    int count = -5;
    CHECK(MPIX_Start_monitor(NULL, &handle, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    CHECK(MPIX_Start_monitor(&request, NULL, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        MPIX_Monitor copy = wrong[i];
        CHECK(MPIX_Start_monitor(&request, &copy, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    }
    CHECK(request.serial == 0);
    CHECK(MPIX_End_monitor(NULL, &handle) == MPIX_MONITOR_ERR_ARGUMENT);
    CHECK(MPIX_End_monitor(&request, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) {
        void *const into = i == 0 ? (void *)&row : (void *)&warning;
        CHECK(get(i, NULL, into, 1, &count) == MPIX_MONITOR_ERR_ARGUMENT);
        CHECK(get(i, &request, into, 1, NULL) == MPIX_MONITOR_ERR_ARGUMENT);
        CHECK(get(i, &request, NULL, 1, &count) == MPIX_MONITOR_ERR_ARGUMENT);
        CHECK(get(i, &request, into, -1, &count) == MPIX_MONITOR_ERR_ARGUMENT);
    }
    CHECK(count == -5);
}

static void wrong_requests(void)
{
    static const int64_t never[] = {-1, 0, 1000000};
    MPIX_Monitor handle = {.profile = 1, .coll = 1}, other = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request, copy;
    MPIX_Monitor_row row;
    int count = -5;
    for (size_t i = 0; i < COUNT(never); i++) {
        request.serial = never[i];
        CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_REQUEST);
        CHECK(get(false, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_REQUEST);
        CHECK(get(true, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_REQUEST);
    }
    MPIX_Start_monitor(&request, &handle, NULL);
    copy = request;
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(get(false, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_ACTIVE);
    CHECK(get(true, &request, NULL, 0, &count) == MPIX_MONITOR_ERR_ACTIVE);
    CHECK(MPIX_End_monitor(&request, &other) == MPIX_MONITOR_ERR_HANDLE);
    CHECK(count == -5 && handle.coll == 1);
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(MPIX_End_monitor(&copy, &handle) == MPIX_MONITOR_SUCCESS);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_ENDED);
    CHECK(MPIX_Get_monitor(&request, &row, 1, &count) == MPIX_MONITOR_SUCCESS);
    CHECK(count == 1 && row.calls == 2);
}

/* As many snapshots as there is room for, one more, and the same again when they have ended. */
static void too_many_active(void)
{
    MPIX_Monitor handles[MPIX_MONITOR_ACTIVE_MAX + 1];
    MPIX_Monitor_request requests[MPIX_MONITOR_ACTIVE_MAX + 1] = {{0}};
    for (int times = 0; times < 2; times++) {
        for (int i = 0; i <= MPIX_MONITOR_ACTIVE_MAX; i++) {
            const int code =
                i < MPIX_MONITOR_ACTIVE_MAX ? MPIX_MONITOR_SUCCESS : MPIX_MONITOR_ERR_LIMIT;
            handles[i] = (MPIX_Monitor){.profile = 1, .coll = 1};
            CHECK(MPIX_Start_monitor(&requests[i], &handles[i], NULL) == code);
        }
        CHECK(requests[MPIX_MONITOR_ACTIVE_MAX].serial == 0);
        MPI_Barrier(MPI_COMM_SELF);
        for (int i = 0; i < MPIX_MONITOR_ACTIVE_MAX; i++) {
            int count = 0;
            CHECK(MPIX_End_monitor(&requests[i], &handles[i]) == MPIX_MONITOR_SUCCESS);
            MPIX_Get_monitor(&requests[i], NULL, 0, &count);
            CHECK(count == 1);
        }
    }
}

/* Of two barriers, on MPI_COMM_SELF and on MPI_COMM_WORLD. */
static MPIX_Monitor_request short_snapshot(void)
{
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPIX_Start_monitor(&request, &handle, NULL);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
    MPIX_End_monitor(&request, &handle);
    return request;
}

/* Rows are kept until 64 later snapshots have ended, however many are active, and are given up some
   time later. Of rows and warnings as many are copied as there is room for. */
static void kept_rows(void)
{
    enum { KEPT = 64, GONE = 128, ACTIVE = MPIX_MONITOR_ACTIVE_MAX - 1 };
    MPIX_Monitor handles[ACTIVE], handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request active[ACTIVE];
    MPIX_Monitor_row rows[2] = {{.calls = -5}, {.calls = -5}};
    int count = 0;
    for (int i = 0; i < ACTIVE; i++) {
        handles[i] = (MPIX_Monitor){.profile = 1, .coll = 1};
        MPIX_Start_monitor(&active[i], &handles[i], NULL);
    }
    MPIX_Monitor_request request = short_snapshot();
    for (int i = 0; i < KEPT - 1; i++)
        (void)short_snapshot();
    CHECK(MPIX_Get_monitor(&request, rows, 1, &count) == MPIX_MONITOR_SUCCESS);
    CHECK(count == 2 && rows[0].calls == 1 && rows[1].calls == -5);
    for (int i = 0; i < GONE; i++)
        (void)short_snapshot();
    CHECK(MPIX_Get_monitor(&request, NULL, 0, &count) == MPIX_MONITOR_ERR_REQUEST);
    for (int i = 0; i < ACTIVE; i++)
        CHECK(MPIX_End_monitor(&active[i], &handles[i]) == MPIX_MONITOR_SUCCESS);
    CHECK(MPIX_End_monitor(&request, &handle) == MPIX_MONITOR_ERR_ENDED);
}

static void copied_warnings(void)
{
    MPIX_Monitor handle = {.pttopt = 1};
    MPIX_Monitor_request request;
    MPIX_Monitor_warning warnings[2] = {{.code = 0}};
    int count = -5;
    MPIX_Start_monitor(&request, &handle, NULL);
    MPIX_End_monitor(&request, &handle);
    MPIX_Get_monitor_warnings(&request, NULL, 0, &count);
    CHECK(count == 1);
    MPIX_Get_monitor_warnings(&request, warnings, 2, &count);
    CHECK(count == 1 && warnings[0].code == MPIX_MONITOR_WARNING_OFF && warnings[1].code == 0);
}

/* Each code has a line of text, and no other has the same. */
static void error_strings(void)
{
    for (int code = -1; code <= MPIX_MONITOR_ERR_OUTPUT + 1; code++) {
        const char *const text = MPIX_Monitor_error_string(code);
        CHECK(text != NULL && text[0] != '\0' && strchr(text, '\n') == NULL);
        for (int before = 0; before < code && code <= MPIX_MONITOR_ERR_OUTPUT; before++)
            CHECK(strcmp(text, MPIX_Monitor_error_string(before)) != 0);
    }
}

int main(int argc, char **argv)
{
    without_mpi();
    MPI_Init(&argc, &argv);
    wrong_arguments();
    wrong_requests();
    too_many_active();
    kept_rows();
    copied_warnings();
    error_strings();
    MPI_Finalize();
    without_mpi();
    return check_failures > 0;
}
