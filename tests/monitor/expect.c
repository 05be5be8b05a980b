#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int me, partner;
char buffer[BUFFER_BYTES];
MPI_Status *no_statuses;
static int failures;
static char about[256] = "start";

void test_begin(int *argc, char ***argv, bool multiple)
{
    int ranks, provided = 0;
    no_statuses = MPI_STATUSES_IGNORE;
    multiple = multiple || (*argc > 1 && strcmp((*argv)[1], "multiple") == 0);
    if (multiple)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(argc, argv);
    if (multiple && provided != MPI_THREAD_MULTIPLE)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    partner = 1 - me;
    if (ranks != 2) {
        (void)fprintf(stderr, "this test needs 2 processes\n");
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int test_end(void)
{
    int all = 0;
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d failures\n", all);
    (void)fflush(stdout);
    return all > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int test_failures(void) { return failures; }

void test_about(const char *what) { (void)snprintf(about, sizeof about, "%s", what); }

bool check(bool is_right, const char *what)
{
    if (!is_right) {
        failures++;
        printf("FAIL rank %d, %s: %s\n", me, about, what);
        (void)fflush(stdout);
    }
    return is_right;
}

bool check_equal(const char *what, int64_t is, int64_t should_be)
{
    char line[512];
    (void)snprintf(line, sizeof line, "%s is %lld, should be %lld", what, (long long)is,
                   (long long)should_be);
    return check(is == should_be, line);
}

/* ---- what is expected ------------------------------------------------------------------------ */

static struct expected_row *find_row(struct expected_rows *rows, const char *kind, const char *comm,
                                     const char *operation)
{
    for (int i = 0; i < rows->count; i++) {
        struct expected_row *const row = &rows->rows[i];
        if (strcmp(row->kind, kind) == 0 && strcmp(row->comm, comm) == 0 &&
            strcmp(row->operation, operation) == 0)
            return row;
    }
    return NULL;
}

/* Sums the rows of the same names: several communicators may have one name. */
static void add_row(struct expected_rows *rows, const char *kind, const char *comm,
                    const char *operation, struct amounts amounts)
{
    struct expected_row *row = find_row(rows, kind, comm, operation);
    if (row == NULL) {
        if (rows->count == rows->capacity) {
            rows->capacity = 2 * rows->capacity + 16;
            rows->rows = realloc(rows->rows, (size_t)rows->capacity * sizeof *rows->rows);
            if (rows->rows == NULL)
                PMPI_Abort(MPI_COMM_WORLD, 1);
        }
        row = &rows->rows[rows->count++];
        *row = (struct expected_row){0};
        (void)snprintf(row->kind, sizeof row->kind, "%s", kind);
        (void)snprintf(row->comm, sizeof row->comm, "%s", comm);
        (void)snprintf(row->operation, sizeof row->operation, "%s", operation);
    }
    struct amounts *const sum = &row->amounts;
    sum->calls += amounts.calls;
    sum->completed += amounts.completed;
    sum->timeouts += amounts.timeouts;
    sum->bytes += amounts.bytes;
    sum->small += amounts.small;
    sum->large += amounts.large;
    sum->small_bytes += amounts.small_bytes;
    sum->large_bytes += amounts.large_bytes;
}

void expect(struct watch *watch, enum kind kind, const char *comm, const char *operation,
            struct amounts amounts)
{
    const MPIX_Monitor *const asked = &watch->asked;
    if (amounts.calls == 0)
        return;
    if (kind == PTTOPT ? asked->pttopt : asked->coll)
        add_row(&watch->expected, kind == PTTOPT ? "pttopt" : "coll", comm, operation, amounts);
    if (asked->comm) {
        /* A communicator that has one row has all three. */
        add_row(&watch->expected, "comm", comm, "all", amounts);
        add_row(&watch->expected, "comm", comm, kind == PTTOPT ? "point-to-point" : "collective",
                amounts);
        add_row(&watch->expected, "comm", comm, kind == PTTOPT ? "collective" : "point-to-point",
                (struct amounts){0});
    }
    if (kind == PTTOPT && (asked->msgsize || asked->traffic))
        add_row(&watch->expected, "workload", comm, "messages", amounts);
}

struct amounts completed_calls(int64_t calls, int64_t bytes)
{
    return (struct amounts){.calls = calls, .completed = calls, .bytes = bytes};
}

struct amounts completed_messages(int64_t calls, int64_t bytes_each)
{
    struct amounts amounts = completed_calls(calls, calls * bytes_each);
    if (bytes_each < LARGE_BYTES) {
        amounts.small = calls;
        amounts.small_bytes = amounts.bytes;
    } else {
        amounts.large = calls;
        amounts.large_bytes = amounts.bytes;
    }
    return amounts;
}

struct amounts in_flight(struct amounts amounts)
{
    amounts.completed = 0;
    return amounts;
}

/* ---- what was counted ------------------------------------------------------------------------ */

MPIX_Monitor_row *rows_of(const MPIX_Monitor_request *request, int *count)
{
    check_equal("MPIX_Get_monitor without room", MPIX_Get_monitor(request, NULL, 0, count),
                MPIX_MONITOR_SUCCESS);
    MPIX_Monitor_row *const rows = malloc((size_t)(*count + 1) * sizeof *rows);
    int again = -1;
    if (rows == NULL)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    check_equal("MPIX_Get_monitor", MPIX_Get_monitor(request, rows, *count, &again),
                MPIX_MONITOR_SUCCESS);
    check_equal("the number of rows, again,", again, *count);
    return rows;
}

/* Checks what holds for the times of every row. */
static void check_times(const MPIX_Monitor_row *row)
{
    char what[256];
    (void)snprintf(what, sizeof what,
                   "%s of %s on %s: times: total %g s, mean %g us, max %g us, %lld completed",
                   row->kind, row->operation, row->comm, row->total_s, row->mean_us, row->max_us,
                   (long long)row->completed);
    const double total_us = row->total_s * 1e6;
    if (strcmp(row->kind, "comm") == 0) {
        check(isnan(row->mean_us), what);
        check(row->completed == 0 ? isnan(row->total_s) || row->total_s >= 0 : row->total_s >= 0,
              what);
    } else if (strcmp(row->kind, "workload") == 0) {
        check(isnan(row->total_s) && isnan(row->mean_us) && isnan(row->max_us), what);
    } else if (row->completed == 0) {
        check(row->total_s <= 0 && isnan(row->mean_us) && isnan(row->max_us), what);
    } else {
        /* 0.1 ns is for rounding. */
        check(row->total_s >= 0 && row->max_us <= total_us + 1e-4 &&
                  fabs(row->mean_us * (double)row->completed - total_us) <=
                      1e-4 + total_us * 1e-9 &&
                  row->mean_us <= row->max_us + 1e-4 && row->max_rank == me,
              what);
    }
}

/* A count that doesn't exist must be MPIX_MONITOR_NA. */
static void check_count(const struct expected_row *row, const char *column, int64_t is,
                        int64_t should_be, bool exists)
{
    char what[256];
    (void)snprintf(what, sizeof what, "%s, %s on %s: %s", row->kind, row->operation, row->comm,
                   column);
    check_equal(what, is, exists ? should_be : MPIX_MONITOR_NA);
}

static void compare(struct expected_row *expected, const struct amounts *is,
                    const MPIX_Monitor *asked)
{
    const struct amounts *const should = &expected->amounts;
    const bool is_workload = strcmp(expected->kind, "workload") == 0;
    check_count(expected, "calls", is->calls, should->calls, !is_workload);
    check_count(expected, "completed", is->completed, should->completed, !is_workload);
    check_count(expected, "timeouts", is->timeouts, should->timeouts, !is_workload);
    check_count(expected, "bytes", is->bytes,
                is_workload ? should->small_bytes + should->large_bytes : should->bytes,
                !is_workload || asked->msgsize);
    check_count(expected, "small", is->small, should->small, is_workload && asked->msgsize);
    check_count(expected, "large", is->large, should->large, is_workload && asked->msgsize);
    check_count(expected, "small_bytes", is->small_bytes, should->small_bytes,
                is_workload && asked->msgsize);
    check_count(expected, "large_bytes", is->large_bytes, should->large_bytes,
                is_workload && asked->msgsize);
}

static struct amounts amounts_of(const MPIX_Monitor_row *row)
{
    return (struct amounts){row->calls, row->completed, row->timeouts,    row->bytes,
                            row->small, row->large,     row->small_bytes, row->large_bytes};
}

static void check_traffic(const MPIX_Monitor_row *row, const struct amounts *expected,
                          const MPIX_Monitor *asked)
{
    const bool is_there = strcmp(row->kind, "workload") == 0 && asked->traffic;
    check(is_there ? (row->small_per_s > 0) == (expected->small > 0) : isnan(row->small_per_s),
          "small_per_s");
    check(is_there ? (row->large_per_s > 0) == (expected->large > 0) : isnan(row->large_per_s),
          "large_per_s");
}

static bool equal_counts(const MPIX_Monitor *a, const MPIX_Monitor *b)
{
    return a->profile == b->profile && a->other == b->other && a->pttopt == b->pttopt &&
           a->coll == b->coll && a->comm == b->comm && a->msgsize == b->msgsize &&
           a->traffic == b->traffic && a->per_rank == b->per_rank &&
           a->large_bytes == b->large_bytes;
}

static void compare_rows(struct watch *watch, const MPIX_Monitor_row *rows, int count)
{
    struct expected_rows counted = {0};
    for (int i = 0; i < count; i++) {
        check_times(&rows[i]);
        check_equal("the rank of a row", rows[i].rank, me);
        const bool twice =
            find_row(&counted, rows[i].kind, rows[i].comm, rows[i].operation) != NULL;
        struct amounts amounts = amounts_of(&rows[i]);
        /* Added to itself, MPIX_MONITOR_NA must stay. */
        int64_t *const all = &amounts.calls;
        for (int j = 0; twice && j < (int)(sizeof amounts / sizeof *all); j++)
            /* A struct amounts has only such members. */
            /* cppcheck-suppress objectIndex */
            if (all[j] == MPIX_MONITOR_NA)
                /* cppcheck-suppress objectIndex */
                all[j] = 0;
        add_row(&counted, rows[i].kind, rows[i].comm, rows[i].operation, amounts);
        const struct expected_row *const expected =
            find_row(&watch->expected, rows[i].kind, rows[i].comm, rows[i].operation);
        if (expected != NULL && !twice)
            check_traffic(&rows[i], &expected->amounts, &watch->asked);
    }
    for (int i = 0; i < counted.count; i++) {
        const struct expected_row *const row = &counted.rows[i];
        struct expected_row *const expected =
            find_row(&watch->expected, row->kind, row->comm, row->operation);
        char what[256];
        (void)snprintf(what, sizeof what, "%s, %s on %s should not be there (%lld calls)",
                       row->kind, row->operation, row->comm, (long long)row->amounts.calls);
        if (!check(expected != NULL, what))
            continue;
        expected->found = true;
        compare(expected, &row->amounts, &watch->asked);
    }
    for (int i = 0; i < watch->expected.count; i++) {
        const struct expected_row *const row = &watch->expected.rows[i];
        char what[256];
        (void)snprintf(what, sizeof what, "%s, %s on %s is missing", row->kind, row->operation,
                       row->comm);
        check(row->found, what);
    }
    free(counted.rows);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

void watch_begin_with(struct watch *watch, MPIX_Monitor asked)
{
    *watch = (struct watch){.asked = asked, .handle = asked};
    check_equal("MPIX_Start_monitor", MPIX_Start_monitor(&watch->request, &watch->handle, NULL),
                MPIX_MONITOR_SUCCESS);
    check(equal_counts(&watch->handle, &asked), "MPIX_Start_monitor leaves the handle as it is");
}

void watch_begin(struct watch *watch)
{
    watch_begin_with(watch, (MPIX_Monitor){.profile = 1,
                                           .pttopt = 1,
                                           .coll = 1,
                                           .comm = 1,
                                           .msgsize = 1,
                                           .traffic = 1,
                                           .large_bytes = LARGE_BYTES});
}

unsigned warnings_of(const MPIX_Monitor_request *request)
{
    enum { CAPACITY = 32 };
    MPIX_Monitor_warning warnings[CAPACITY];
    unsigned codes = 0;
    int count = 0;
    check_equal("MPIX_Get_monitor_warnings",
                MPIX_Get_monitor_warnings(request, warnings, CAPACITY, &count),
                MPIX_MONITOR_SUCCESS);
    for (int i = 0; i < count; i++) {
        const char *const text = warnings[i].text;
        check(text[0] != '\0' && strlen(text) < sizeof warnings->text - 1 &&
                  strchr(text, '\n') == NULL,
              "a warning is a line of text, not cut");
        check((codes & 1u << warnings[i].code) == 0, "of each code there is one warning");
        codes |= 1u << warnings[i].code;
    }
    return codes;
}

void expect_warning(struct watch *watch, int code) { watch->warnings |= 1u << code; }

void watch_end(struct watch *watch)
{
    const MPIX_Monitor defaults = MPIX_MONITOR_DEFAULTS;
    check_equal("MPIX_End_monitor", MPIX_End_monitor(&watch->request, &watch->handle),
                MPIX_MONITOR_SUCCESS);
    check(equal_counts(&watch->handle, &defaults) && !(fabs(watch->handle.timeout_us) > 0),
          "MPIX_End_monitor puts the handle back to its defaults");
    int count = 0;
    MPIX_Monitor_row *const rows = rows_of(&watch->request, &count);
    compare_rows(watch, rows, count);
    check_equal("the warnings, a bit each,", warnings_of(&watch->request), watch->warnings);
    free(rows);
    free(watch->expected.rows);
    watch->expected = (struct expected_rows){0};
}

/* ---- the partner ----------------------------------------------------------------------------- */

void meet(void) { PMPI_Barrier(MPI_COMM_WORLD); }

void send_bytes(int bytes, MPI_Comm comm)
{
    PMPI_Send(buffer, bytes, MPI_BYTE, partner, TAG, comm);
}

void receive_bytes(MPI_Comm comm)
{
    PMPI_Recv(buffer, BUFFER_BYTES, MPI_BYTE, partner, TAG, comm, MPI_STATUS_IGNORE);
}

void run_each(void (*const tests[])(void), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tests[i]();
        meet();
    }
}

MPI_Comm make_named(const char *name)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name);
    return comm;
}

void sleep_ms(double ms)
{
    const time_t whole_s = (time_t)(ms / 1e3);
    const struct timespec duration = {whole_s, (long)((ms - (double)whole_s * 1e3) * 1e6)};
    (void)nanosleep(&duration, NULL);
}
