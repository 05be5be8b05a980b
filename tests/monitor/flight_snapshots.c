/*
 * Snapshots that ask for different things about the same operations; timeouts; and wrong use of the
 * monitor.
 */
#include "flight.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIVE_FLAGS .pttopt = 1, .coll = 1, .comm = 1, .msgsize = 1, .traffic = 1

/* What each snapshot asks for, and how many of the sends are large for it. */
static const struct question {
    MPIX_Monitor asked;
    int large;
    int64_t large_bytes;
    int warning; /* 0: none */
} questions[] = {
    {{.profile = 1, FIVE_FLAGS, .large_bytes = 1}, 4, 132081, 0},
    {{.profile = 1, .pttopt = 1, .large_bytes = 10}, 4, 132081, 0},
    {{.profile = 1, .coll = 1}, 0, 0, 0},
    {{.profile = 1, .comm = 1}, 0, 0, 0},
    {{.profile = 1, .msgsize = 1, .large_bytes = 1000}, 3, 132071, 0},
    {{.profile = 1, .msgsize = 1, .large_bytes = 1001}, 2, 131071, 0},
    {{.profile = 1, .msgsize = 1, .large_bytes = 0}, 1, 65536, 0}, /* the default: 64 KiB */
    {{.profile = 1, .traffic = 1, .large_bytes = 100000}, 0, 0, 0},
    {{.profile = 1}, .warning = MPIX_MONITOR_WARNING_NOTHING},
    {{.profile = 1, .per_rank = 1, .large_bytes = 10, .timeout_us = 1},
     .warning = MPIX_MONITOR_WARNING_NOTHING},
    {{FIVE_FLAGS}, .warning = MPIX_MONITOR_WARNING_OFF},
    {{.other = 1}, .warning = MPIX_MONITOR_WARNING_OFF},
    {{.per_rank = 1}, 0, 0, 0},
};

enum { QUESTIONS = sizeof questions / sizeof *questions, SENDS = 4 };

static const int sizes[SENDS] = {10, 1000, 65535, 65536};

/* Asks `count` questions at a time. The snapshots end in another order than they were started. */
static void ask(int first, int count)
{
    static struct watch watches[QUESTIONS];
    test_about("snapshots that ask for different things");
    for (int i = first; i < first + count; i++)
        watch_begin_with(&watches[i], questions[i].asked);
    int64_t bytes = 0;
    for (int i = 0; i < SENDS; i++) {
        bytes += sizes[i];
        if (me == 0)
            MPI_Send(buffer, sizes[i], MPI_BYTE, 1, TAG, one);
        else
            receive_bytes(one);
    }
    MPI_Barrier(two);
    for (int k = 0; k < QUESTIONS; k++) {
        const int i = (k * 3 + 1) % QUESTIONS; /* each once */
        _Static_assert(QUESTIONS % 3 != 0, "each once");
        if (i < first || i >= first + count)
            continue;
        const struct question *const question = &questions[i];
        char what[64];
        (void)snprintf(what, sizeof what, "question %d of %d", i, count);
        test_about(what);
        if (question->warning != 0)
            expect_warning(&watches[i], question->warning);
        if (question->asked.profile) {
            if (me == 0)
                expect(&watches[i], PTTOPT, "one", "MPI_Send",
                       (struct amounts){.calls = SENDS,
                                        .completed = SENDS,
                                        .bytes = bytes,
                                        .small = SENDS - question->large,
                                        .small_bytes = bytes - question->large_bytes,
                                        .large = question->large,
                                        .large_bytes = question->large_bytes});
            expect(&watches[i], COLL, "two", "MPI_Barrier", completed_calls(1, 0));
        }
        watch_end(&watches[i]);
    }
}

/* Rank 1 comes 120 ms late; 50 are allowed. */
static void timeouts(void)
{
    struct watch watch, patient;
    test_about("timeouts");
    MPIX_Monitor asked = {.profile = 1, .pttopt = 1, .coll = 1, .comm = 1, .timeout_us = 50e3};
    meet();
    watch_begin_with(&watch, asked);
    asked.timeout_us = 1e9;
    watch_begin_with(&patient, asked);
    if (me == 1) {
        sleep_ms(120);
        send_bytes(1, one);
        sleep_ms(120);
        send_bytes(2, one);
        sleep_ms(120);
    } else {
        MPI_Request request = post_receive(one);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, 64, MPI_BYTE, 1, TAG, one, MPI_STATUS_IGNORE);
        request = post_send(4, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        struct watch *const both[] = {&watch, &patient};
        for (int i = 0; i < 2; i++) {
            const int late = i == 0;
            expect(both[i], PTTOPT, "one", "MPI_Irecv",
                   (struct amounts){.calls = 1, .completed = 1, .bytes = 1, .timeouts = late});
            expect(both[i], PTTOPT, "one", "MPI_Recv",
                   (struct amounts){.calls = 1, .completed = 1, .bytes = 2, .timeouts = late});
            expect(both[i], PTTOPT, "MPI_COMM_WORLD", "MPI_Isend", completed_messages(1, 4));
            expect(both[i], COLL, "two", "MPI_Barrier",
                   (struct amounts){.calls = 1, .completed = 1, .timeouts = late});
        }
    }
    MPI_Barrier(two);
    if (me == 1) {
        expect(&watch, COLL, "two", "MPI_Barrier", completed_calls(1, 0));
        expect(&patient, COLL, "two", "MPI_Barrier", completed_calls(1, 0));
        receive_bytes(MPI_COMM_WORLD);
    }
    watch_end(&watch);
    watch_end(&patient);
}

/* The times themselves: a send of 120 ms, after a pause of 120 ms in the snapshot. */
static void times(void)
{
    MPIX_Monitor handle = {.profile = 1, .pttopt = 1, .comm = 1, .traffic = 1};
    MPIX_Monitor_request request;
    test_about("times");
    meet();
    if (me == 1) {
        sleep_ms(240);
        receive_bytes(one);
        send_bytes(1, one);
        return;
    }
    MPIX_Start_monitor(&request, &handle, NULL);
    sleep_ms(120);
    MPI_Ssend(buffer, 1, MPI_BYTE, 1, TAG, one);
    MPI_Recv(buffer, 64, MPI_BYTE, 1, TAG, one, MPI_STATUS_IGNORE);
    MPIX_End_monitor(&request, &handle);
    int count = 0;
    MPIX_Monitor_row *const rows = rows_of(&request, &count);
    for (int i = 0; i < count; i++) {
        char what[256];
        const MPIX_Monitor_row *const row = &rows[i];
        (void)snprintf(what, sizeof what, "%s of %s: %g s, %g us, %g a second", row->kind,
                       row->operation, row->total_s, row->max_us, row->small_per_s);
        /* 120 ms: 90 to 300, as the scheduler may delay it. The snapshot takes at least 240 ms. */
        if (strcmp(row->operation, "MPI_Ssend") == 0)
            check(row->total_s > 0.09 && row->total_s < 0.3 &&
                      fabs(row->max_us - row->total_s * 1e6) < 1 &&
                      fabs(row->mean_us - row->total_s * 1e6) < 1,
                  what);
        else if (strcmp(row->operation, "point-to-point") == 0)
            check(row->total_s > 0.09 && row->total_s < 0.3, what);
        else if (strcmp(row->kind, "workload") == 0)
            check(row->small_per_s > 1 / 0.6 && row->small_per_s < 1 / 0.2, what);
    }
    free(rows);
}

/* These catch what is written to stderr between them. */
static int stderr_to_file(FILE *file)
{
    (void)fflush(stderr);
    const int usual = dup(STDERR_FILENO);
    (void)dup2(fileno(file), STDERR_FILENO);
    return usual;
}

static void stderr_again(int usual)
{
    (void)fflush(stderr);
    (void)dup2(usual, STDERR_FILENO);
    (void)close(usual);
}

/* Without a report, rank 0 says on stderr that a handle asks for nothing, once a job. This must be
   the first such snapshot. */
static void said_once(void)
{
    static const MPIX_Monitor asked[] = {
        {.per_rank = 1}, {.profile = 1, .coll = 1}, {.coll = 1}, {.profile = 1}, {.coll = 1}};
    static const char start[] =
        "mpirtmon: warning: nothing is monitored: the handle's profile is 0";
    char text[1024] = "";
    FILE *const file = tmpfile();
    test_about("what stderr says of handles that ask for nothing");
    check(file != NULL, "a file is there");
    if (file == NULL)
        return;
    const int usual = stderr_to_file(file);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        MPIX_Monitor handle = asked[i];
        MPIX_Monitor_request request;
        MPIX_Start_monitor(&request, &handle, NULL);
        MPIX_End_monitor(&request, &handle);
    }
    stderr_again(usual);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    const char *const end = strchr(text, '\n');
    if (me == 0)
        check(strncmp(text, start, sizeof start - 1) == 0 && end != NULL && end[1] == '\0', text);
    else
        check(text[0] == '\0', text);
}

/* As many warnings are copied as there is room for. */
static void copied_warnings(void)
{
    MPIX_Monitor handle = {.pttopt = 1};
    MPIX_Monitor_request request;
    MPIX_Monitor_warning warnings[2];
    int count = -5;
    test_about("warnings that are copied");
    MPIX_Start_monitor(&request, &handle, NULL);
    MPIX_End_monitor(&request, &handle);
    memset(warnings, 0, sizeof warnings);
    MPIX_Get_monitor_warnings(&request, NULL, 0, &count);
    check_equal("warnings", count, 1);
    MPIX_Get_monitor_warnings(&request, warnings, 2, &count);
    check_equal("warnings", count, 1);
    check_equal("the first one's code", warnings[0].code, MPIX_MONITOR_WARNING_OFF);
    check_equal("the second one's code, which there is none of,", warnings[1].code, 0);
}

/* A warning says that the MPI library counts nothing: then there are the operating system's
   services only. Asking it for them leaves the program the thread level that it has. */
static void missing_services(void)
{
    enum { OF_SYSTEM = 6 };
    MPIX_Monitor handle = {.profile = 1, .other = 1};
    MPIX_Monitor_request request;
    int count = 0, level_before = -1, level = -2;
    test_about("services that the library doesn't count");
    MPI_Query_thread(&level_before);
    MPIX_Start_monitor(&request, &handle, NULL);
    MPI_Query_thread(&level);
    check_equal("the thread level", level, level_before);
    MPIX_End_monitor(&request, &handle);
    MPIX_Get_monitor(&request, NULL, 0, &count);
    check_equal("the warnings, a bit each,", warnings_of(&request),
                count == OF_SYSTEM ? 1u << MPIX_MONITOR_WARNING_SERVICES : 0);
}

void fly_snapshots(void)
{
    said_once();
    copied_warnings();
    missing_services();
    ask(0, QUESTIONS);
    for (int i = 0; i < QUESTIONS; i++)
        ask(i, 1);
    timeouts();
    times();
}

/* ---- wrong use ------------------------------------------------------------------------------- */

static void expect_code(const char *what, int is, int should_be)
{
    char line[256];
    (void)snprintf(line, sizeof line, "%s gives \"%s\", should give \"%s\"", what,
                   MPIX_Monitor_error_string(is), MPIX_Monitor_error_string(should_be));
    check(is == should_be, line);
}

void misuse_without_mpi(const char *when)
{
    MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request = {.serial = 1};
    test_about(when);
    expect_code("MPIX_Start_monitor", MPIX_Start_monitor(&request, &handle, NULL),
                MPIX_MONITOR_ERR_MPI);
    expect_code("MPIX_End_monitor", MPIX_End_monitor(&request, &handle), MPIX_MONITOR_ERR_MPI);
    expect_code("MPIX_Start_monitor of NULL", MPIX_Start_monitor(NULL, &handle, NULL),
                MPIX_MONITOR_ERR_ARGUMENT);
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
    test_about("wrong arguments");
    expect_code("start without a request", MPIX_Start_monitor(NULL, &handle, NULL),
                MPIX_MONITOR_ERR_ARGUMENT);
    expect_code("start without a handle", MPIX_Start_monitor(&request, NULL, NULL),
                MPIX_MONITOR_ERR_ARGUMENT);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        MPIX_Monitor copy = wrong[i];
        expect_code("start with a number that can't be", MPIX_Start_monitor(&request, &copy, NULL),
                    MPIX_MONITOR_ERR_ARGUMENT);
    }
    check_equal("the request", request.serial, 0);
    expect_code("end without a request", MPIX_End_monitor(NULL, &handle),
                MPIX_MONITOR_ERR_ARGUMENT);
    expect_code("end without a handle", MPIX_End_monitor(&request, NULL),
                MPIX_MONITOR_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) {
        void *const into = i == 0 ? (void *)&row : (void *)&warning;
        expect_code("get without a request", get(i, NULL, into, 1, &count),
                    MPIX_MONITOR_ERR_ARGUMENT);
        expect_code("get without a count", get(i, &request, into, 1, NULL),
                    MPIX_MONITOR_ERR_ARGUMENT);
        expect_code("get into nothing", get(i, &request, NULL, 1, &count),
                    MPIX_MONITOR_ERR_ARGUMENT);
        expect_code("get into a negative number", get(i, &request, into, -1, &count),
                    MPIX_MONITOR_ERR_ARGUMENT);
    }
    check_equal("the count", count, -5);
}

static void wrong_requests(void)
{
    MPIX_Monitor handle = {.profile = 1, .coll = 1}, other = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request request = {.serial = 0}, copy;
    int count = -5;
    test_about("wrong requests");
    static const int64_t never[] = {-1, 0, 1000000};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        request.serial = never[i];
        expect_code("end of what never started", MPIX_End_monitor(&request, &handle),
                    MPIX_MONITOR_ERR_REQUEST);
        for (int j = 0; j < 2; j++)
            expect_code("get of what never started", get(j, &request, NULL, 0, &count),
                        MPIX_MONITOR_ERR_REQUEST);
    }
    MPIX_Start_monitor(&request, &handle, NULL);
    copy = request;
    MPI_Barrier(one);
    for (int i = 0; i < 2; i++)
        expect_code("get of an active one", get(i, &request, NULL, 0, &count),
                    MPIX_MONITOR_ERR_ACTIVE);
    expect_code("end with another handle", MPIX_End_monitor(&request, &other),
                MPIX_MONITOR_ERR_HANDLE);
    check_equal("the count", count, -5);
    check_equal("what the handle asks for", handle.coll, 1);
    MPI_Barrier(one);
    expect_code("end of its copy", MPIX_End_monitor(&copy, &handle), MPIX_MONITOR_SUCCESS);
    expect_code("a second end", MPIX_End_monitor(&request, &handle), MPIX_MONITOR_ERR_ENDED);
    MPIX_Monitor_row *const rows = rows_of(&request, &count);
    check_equal("rows", count, 1);
    check_equal("calls", rows[0].calls, 2);
    free(rows);
}

/* As many snapshots as there is room for, one more, and the same again when they have ended. */
static void too_many_active(void)
{
    static MPIX_Monitor handles[MPIX_MONITOR_ACTIVE_MAX + 1];
    static MPIX_Monitor_request requests[MPIX_MONITOR_ACTIVE_MAX + 1];
    test_about("too many active snapshots");
    for (int times = 0; times < 2; times++) {
        for (int i = 0; i <= MPIX_MONITOR_ACTIVE_MAX; i++) {
            handles[i] = (MPIX_Monitor){.profile = 1, .coll = 1};
            requests[i].serial = 0;
            expect_code("start", MPIX_Start_monitor(&requests[i], &handles[i], NULL),
                        i < MPIX_MONITOR_ACTIVE_MAX ? MPIX_MONITOR_SUCCESS
                                                    : MPIX_MONITOR_ERR_LIMIT);
        }
        check_equal("the request of the one too many", requests[MPIX_MONITOR_ACTIVE_MAX].serial, 0);
        MPI_Barrier(one);
        for (int i = 0; i < MPIX_MONITOR_ACTIVE_MAX; i++) {
            int count = 0;
            expect_code("end", MPIX_End_monitor(&requests[i], &handles[i]), MPIX_MONITOR_SUCCESS);
            MPIX_Get_monitor(&requests[i], NULL, 0, &count);
            check_equal("rows", count, 1);
        }
    }
}

static MPIX_Monitor_request short_snapshot(int barriers)
{
    MPIX_Monitor handle = {.profile = 1, .coll = 1};
    MPIX_Monitor_request request;
    MPIX_Start_monitor(&request, &handle, NULL);
    for (int i = 0; i < barriers; i++)
        MPI_Barrier(i % 2 == 0 ? one : two);
    MPIX_End_monitor(&request, &handle);
    return request;
}

/* Rows are kept until 64 later snapshots have ended, however many are active, and are given up some
   time later. */
static void kept_rows(void)
{
    enum { KEPT = 64, GONE = 128, ACTIVE = MPIX_MONITOR_ACTIVE_MAX - 1 };
    MPIX_Monitor handles[ACTIVE];
    MPIX_Monitor_request active[ACTIVE];
    test_about("rows that are kept");
    for (int i = 0; i < ACTIVE; i++) {
        handles[i] = (MPIX_Monitor){.profile = 1, .coll = 1};
        MPIX_Start_monitor(&active[i], &handles[i], NULL);
    }
    const MPIX_Monitor_request request = short_snapshot(3);
    for (int i = 0; i < KEPT - 1; i++)
        (void)short_snapshot(1);
    int count = 0;
    MPIX_Monitor_row rows[2];
    memset(rows, 0x7f, sizeof rows);
    const int64_t untouched = rows[1].calls;
    expect_code("get after 15 later snapshots", MPIX_Get_monitor(&request, rows, 1, &count),
                MPIX_MONITOR_SUCCESS);
    check_equal("rows, of which one was asked for,", count, 2);
    check_equal("calls", rows[0].calls, 2);
    check_equal("what there was no room for", rows[1].calls, untouched);
    for (int i = 0; i < GONE; i++)
        (void)short_snapshot(1);
    MPIX_Monitor handle = MPIX_MONITOR_DEFAULTS;
    MPIX_Monitor_request ended = request;
    expect_code("get after 79 later snapshots", MPIX_Get_monitor(&request, NULL, 0, &count),
                MPIX_MONITOR_ERR_REQUEST);
    for (int i = 0; i < ACTIVE; i++)
        expect_code("end of one that was active all the time",
                    MPIX_End_monitor(&active[i], &handles[i]), MPIX_MONITOR_SUCCESS);
    expect_code("end after 79 later snapshots", MPIX_End_monitor(&ended, &handle),
                MPIX_MONITOR_ERR_ENDED);
}

static void error_strings(void)
{
    test_about("texts of error codes");
    for (int code = -1; code <= MPIX_MONITOR_ERR_OUTPUT + 1; code++) {
        const char *const text = MPIX_Monitor_error_string(code);
        check(text != NULL && text[0] != '\0' && strchr(text, '\n') == NULL,
              "each code has a line of text");
        for (int before = 0; before < code && code <= MPIX_MONITOR_ERR_OUTPUT; before++)
            check(strcmp(text, MPIX_Monitor_error_string(before)) != 0,
                  "and no other has the same");
    }
}

void misuse(void)
{
    wrong_arguments();
    wrong_requests();
    too_many_active();
    kept_rows();
    error_strings();
}
