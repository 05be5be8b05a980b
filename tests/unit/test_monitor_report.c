/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole report of a snapshot that the test makes up. Run on 1 and 3 ranks; only rank 0 writes
 * the report and checks it.
 */
#include "ranks.h"
#include "streams.h"

#include "monitor/lib/count/own_comm.h"
#include "monitor/lib/count/inside.h"
#include "monitor/lib/report/gather.h"
#include "monitor/lib/report/report.h"
#include "monitor/lib/report/tool_before.h"
#include "monitor/lib/report/waiting.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- stand-ins for other modules ------------------------------------------------------------- */

struct communicator communicators[COMMUNICATORS_KNOWN] = {{.name = "other communicators"}};

double ticks_ns(void) { return 0.5; }

uint64_t ticks_cost(void) { return 41; }

const char *ticks_clock(void) { return "a test's"; }

static struct tool_before tool = {.functions = 0};

struct tool_before tool_before(void) { return tool; }

const char *unknown_layer(void) { return NULL; }

bool has_large_integers;

/* The rows of all ranks are rank 0's: merging is tested by test_monitor_rows.c. */
static bool lacks_memory;

static int rooted; /* how often rooted collectives were compared */

void rows_find_late(struct rows *rows, const struct snapshot *of, const struct bc_job *job,
                    MPI_Comm comm)
{
    report_give_up_comm(); /* another thread's call: a report that is being written keeps it */
    MPI_Barrier(comm);
    if (job == NULL)
        return;
    assert_int_equal(job->ranks, ranks);
    rooted++;
    rows->clock_comparisons = 2;
    rows->clock_error_ns = 123.4;
}

bool rows_gather(struct rows *rows, bool totals, MPI_Comm comm) { return !lacks_memory; }

bool rows_append(struct rows *rows, const struct rows *more)
{
    struct keyed_row *const all =
        realloc(rows->rows, (size_t)(rows->count + more->count + 1) * sizeof *all);
    if (more->count > 0)
        memcpy(all + rows->count, more->rows, (size_t)more->count * sizeof *all);
    rows->rows = all;
    rows->count += more->count;
    return true;
}

static void make_rows(struct rows *rows, int of)
{
    static const struct keyed_row row = {
        .row = {.kind = "pttopt",
                .comm = "my\tname",
                .operation = "MPI_Send",
                .ranks = 3,
                .calls = 5,
                .completed = 4,
                .timeouts = 0,
                .total_s = 1.25,
                .mean_us = 312500.0,
                .max_us = 1000000.5,
                .max_rank = 2,
                .bytes = 4096,
                .small = MPIX_MONITOR_NA,
                .large = MPIX_MONITOR_NA,
                .small_per_s = NAN,
                .large_per_s = NAN,
                .small_bytes = MPIX_MONITOR_NA,
                .large_bytes = MPIX_MONITOR_NA,
                .members = "0-2",
                .rank = MPIX_MONITOR_NA,
                .slowest_s = 1.0,
                .slowest_rank = 1,
                .in_calls_s = 0.75,
                .computed_s = NAN,
                .size_bytes = MPIX_MONITOR_NA,
                .waited_s = 0.5,
                .waited_lo_s = 0.4,
                .waited_hi_s = 0.6,
                .last_calls = 3,
                .last_rank = 2,
                .callers = 3,
                .computed_after_s = 0.25,
                .joinable = 1,
                .neighbours = 2,
                .least_waited_s = 0.125,
                .in_waits_s = 0.625,
                .waited_files_s = 0.0625,
                .parallel_eff_pct = 60.0,
                .load_balance_pct = 80.0,
                .communication_eff_pct = 75.0,
                .serialisation_eff_pct = NAN,
                .transfer_eff_pct = NAN},
    };
    *rows = (struct rows){.rows = malloc(sizeof row), .count = 1, .seconds = 2.5};
    rows->rows[0] = row;
    if (of > 0)
        rows->rows[0].row.rank = of;
}

int common_clock_compare(const struct bc_job *job)
{
    assert_int_equal(job->ranks, ranks);
    assert_true(job->node_comm != MPI_COMM_NULL);
    return 1;
}

static bool has_room = true;

bool communicators_have_room(int count) { return has_room; }

static int fetched;

bool rows_fetch(struct rows *rows, int from, MPI_Comm comm)
{
    fetched++;
    if (rank == 0)
        make_rows(rows, from);
    return true;
}

void rows_free(struct rows *rows)
{
    free(rows->rows);
    *rows = (struct rows){0};
}

/* ---- reports --------------------------------------------------------------------------------- */

static struct snapshot snapshot;
static char path[TEMPORARY_PATH_MAX];
static char text[65536];

static int set_up(void **state)
{
    inside_own.gap = 84;
    lacks_memory = false;
    fetched = rooted = 0;
    snapshot = (struct snapshot){
        .serial = 7,
        .asked = {.profile = 1, .pttopt = 1, .msgsize = 1, .large_bytes = 65536},
        .file = stderr,
    };
    make_temporary(path);
    snapshot.file = fopen(path, "w");
    return snapshot.file == NULL;
}

static int tear_down(void **state)
{
    unlink(path);
    return 0;
}

/* Writes the report, closes the file and reads it. */
static int write_report(struct rows *rows)
{
    make_rows(rows, 0);
    fputs("before\n", snapshot.file);
    const int code = report_write(&snapshot, rows);
    const bool open = fclose(snapshot.file) == 0;
    read_text(path, text, sizeof text);
    return open ? code : -1;
}

#define HEADER                                                                                     \
    "kind\tcomm\toperation\tranks\tcalls\tcompleted\ttimeouts\ttotal_s\tmean_us\tmax_us\tmax_"     \
    "rank\tbytes\t"                                                                                \
    "small\tlarge\tsmall_per_s\tlarge_per_s\tsmall_bytes\tlarge_bytes\tmembers\trank\tslowest_"    \
    "s\tslowest_rank\tin_calls_s\tcomputed_s\tsize_bytes\twaited_s\t"                              \
    "waited_lo_s\twaited_hi_s\tlast_calls\tlast_rank\tcallers\tcomputed_after_s\t"                 \
    "joinable\tneighbours\tleast_waited_s\tin_waits_s\twaited_files_s\t"                           \
    "parallel_eff_pct\tload_balance_pct\tcommunication_eff_pct\tserialisation_eff_pct\t"           \
    "transfer_eff_pct\n"
#define ROW(rank_)                                                                                 \
    "pttopt\tmy_name\tMPI_Send\t3\t5\t4\t0\t1.250000000\t312500.000\t1000000.500\t2\t4096\t"       \
    "NA\tNA\tNA\tNA\tNA\tNA\t0-2\t" rank_                                                          \
    "\t1.000000000\t1\t0.750000000\tNA\tNA\t0.500000000\t0.400000000\t0.600000000\t3\t2\t"         \
    "3\t0.250000000\t1\t2\t0.125000000\t0.625000000\t0.062500000\t60.000\t80.000\t75."             \
    "000\tNA\tNA\n"
#define END(rows) "# end: " rows ", exit 0\n"

/* True if the report has this line. */
static bool has_line(const char *line)
{
    const size_t length = strlen(line);
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, line, length) == 0 && at[length] == '\n')
            return true;
        if (*at == '\0')
            break;
    }
    return false;
}

static bool ends_with(const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

TEST(report_is_as_the_contract_says)
{
    struct rows rows;
    const int code = write_report(&rows);
    assert_int_equal(code, MPIX_MONITOR_SUCCESS);
    rows_free(&rows);
    if (rank != 0) {
        assert_string_equal(text, "before\n");
        return;
    }
    assert_true(strncmp(text, "before\n# benchmark: mpirtmon\n", 28) == 0);
    assert_true(ends_with("\n" HEADER ROW("NA") END("1 row")));
    const char *const *const lines =
        WORDS("# monitored: pttopt,msgsize", "# snapshot: 7", "# snapshot_s: 2.500000000",
              "# clock: a test's", "# clock_cost_ns: 20.5", "# computing_from_ns: 42.0",
              "# large_bytes: 65536", "# timeout_us: none", "# per_rank: no");
    for (size_t i = 0; lines[i] != NULL; i++)
        assert_true(has_line(lines[i]));
    assert_non_null(strstr(text, "\n# mpi_library: "));
    assert_non_null(strstr(text, "test_monitor_report first second word\n"));
    char line[64];
    snprintf(line, sizeof line, "# ranks: %d", ranks);
    assert_true(has_line(line));
    assert_null(strstr(text, "# note: "));
    assert_null(strstr(text, "could not be"));
}

/* The report replaces the content of the file. */
TEST(a_report_takes_the_place_of_what_is_there)
{
    report_replaces(snapshot.file);
    struct rows rows;
    const bool is_prepared = report_prepare(true);
    report_is_last();
    const int code = write_report(&rows);
    report_replaces(NULL);
    rows_free(&rows);
    assert_true(is_prepared);
    assert_int_equal(code, MPIX_MONITOR_SUCCESS);
    if (rank == 0)
        assert_true(strncmp(text, "# benchmark: mpirtmon\n", 22) == 0);
    else
        assert_string_equal(text, "before\n");
}

TEST(remarks_say_what_is_missing)
{
    tool = (struct tool_before){"libtool.so", 5, "MPI_Wait"};
    snapshot.asked = (MPIX_Monitor){
        .profile = 1, .coll = 1, .comm = 1, .other = 1, .traffic = 1, .timeout_us = 1.5};
    snapshot.services.warning = "nothing to see";
    struct rows rows;
    make_rows(&rows, 0);
    rows.cases[MPIX_MONITOR_WARNING_UNTRACKED] = 11;
    rows.cases[MPIX_MONITOR_WARNING_UNTOLD] = 12;
    rows.cases[MPIX_MONITOR_WARNING_UNPLACED] = 13;
    rows.cases[MPIX_MONITOR_WARNING_UNSIZED] = 14;
    rows.cases[MPIX_MONITOR_WARNING_UNKEPT] = 15;
    rows.unknown_rooted = 16;
    rows.pairs.missed = 17;
    rows.clock_comparisons = 1;
    const int code = report_write(&snapshot, &rows);
    tool.functions = 0;
    fclose(snapshot.file);
    rows_free(&rows);
    assert_int_equal(code, MPIX_MONITOR_SUCCESS);
    if (rank != 0)
        return;
    read_text(path, text, sizeof text);
    const char *const *const parts = WORDS(
        "\n# monitored: coll,comm,traffic,other\n", "\n# timeout_us: 1.500\n",
        "\n# warning: nothing to see\n", "# warning: 11 operations count as not",
        "# warning: 12 one-sided", "# warning: 13 operations count for", "'(other communicators)'",
        "# warning: 14 operations are in no row", "# warning: 15 collective calls have no waiting",
        "# warning: 16 calls of rooted collectives", "# warning: 17 bytes may be missing",
        "# warning: waiting in rooted collectives is uncertain",
        "# note: libtool.so comes before the monitor for 5 functions, such as MPI_Wait",
        "# note: other services count for the whole process",
        "# note: the messages inside collectives can't be seen");
    for (size_t i = 0; parts[i] != NULL; i++)
        if (strstr(text, parts[i]) == NULL)
            fail_msg("the report lacks '%s'", parts[i]);
}

/* Rank 0's handle decides, and coll has to be on. */
TEST(clocks_are_compared_where_asked_for)
{
    static const struct {
        MPIX_Monitor asked;
        bool compares, warns;
    } cases[] = {
        {{.profile = 1, .coll = 1}, false, false},
        {{.profile = 1, .coll = 1, .clock = 1}, true, false},
        {{.profile = 1, .pttopt = 1, .clock = 1}, false, true},
        {{.coll = 1, .clock = 1}, false, false},
    };
    enum { CASES = COUNT(cases) };
    bool good[CASES];
    fclose(snapshot.file);
    for (int i = 0; i < CASES; i++) {
        struct rows rows;
        snapshot.asked = rank == 0 ? cases[i].asked : (MPIX_Monitor){.profile = 1, .coll = 1};
        snapshot.file = fopen(path, "w");
        rooted = 0;
        const int code = write_report(&rows);
        rows_free(&rows);
        good[i] = code == MPIX_MONITOR_SUCCESS && rooted == cases[i].compares;
        if (rank == 0)
            good[i] = good[i] && has_line("# common_clock_error_ns: 123.4") == cases[i].compares &&
                      has_line("# warning: clock has no effect without coll") == cases[i].warns;
    }
    for (int i = 0; i < CASES; i++)
        assert_true(good[i]);
}

/* Rank 0's handle decides. */
TEST(rows_of_each_rank_follow)
{
    snapshot.asked.per_rank = rank == 0;
    struct rows rows;
    const int code = write_report(&rows);
    const int count = rows.count;
    const int last = rows.rows[count - 1].row.rank;
    rows_free(&rows);
    assert_int_equal(code, MPIX_MONITOR_SUCCESS);
    assert_int_equal(fetched, rank == 0 ? ranks - 1 : 1);
    if (rank != 0)
        return;
    assert_true(has_line("# per_rank: yes"));
    assert_true(ends_with(ranks == 1 ? HEADER ROW("NA") ROW("NA") END("2 rows")
                                     : HEADER ROW("NA") ROW("NA") ROW("1") ROW("2") END("4 rows")));
    assert_int_equal(count, 1 + ranks);
    assert_int_equal(last, ranks == 1 ? MPIX_MONITOR_NA : ranks - 1);
}

TEST(locale_stays_and_points_are_points)
{
    const bool comma = choose_decimal_comma();
    struct rows rows;
    const int code = write_report(&rows);
    char number[16];
    snprintf(number, sizeof number, "%.1f", 0.5);
    setlocale(LC_ALL, "C");
    rows_free(&rows);
    if (!comma)
        skip();
    assert_int_equal(code, MPIX_MONITOR_SUCCESS);
    assert_string_equal(number, "0,5");
    if (rank != 0)
        return;
    assert_true(has_line("# snapshot_s: 2.500000000"));
    assert_true(ends_with(HEADER ROW("NA") END("1 row")));
}

TEST(lost_reports_are_noticed_by_all)
{
    fclose(snapshot.file);
    snapshot.file = rank == 0 ? fopen("/dev/full", "w") : stderr;
    struct rows rows;
    make_rows(&rows, 0);
    const int code = report_write(&snapshot, &rows);
    if (rank == 0)
        fclose(snapshot.file);
    rows_free(&rows);
    assert_int_equal(code, MPIX_MONITOR_ERR_OUTPUT);
}

/* Takes all communicators that MPI has room for, up to MAX: not every MPI library has a limit.
   Returns whether it has. */
enum { TAKEN_MAX = 3000 };
static MPI_Comm taken[TAKEN_MAX];
static int taken_count;

static bool take_all(void)
{
    bool is_taken = true;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (is_taken && taken_count < TAKEN_MAX) {
        is_taken = MPI_Comm_dup(MPI_COMM_SELF, &taken[taken_count]) == MPI_SUCCESS;
        taken_count += is_taken;
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    return !is_taken;
}

/* The program takes all communicators. The first two reports use the communicator made earlier, but
   can't compare clocks and warn of that; the third has none and writes nothing. */
TEST(a_report_needs_one_communicator)
{
    int codes[3];
    bool warns[3] = {false};
    const bool is_prepared = report_prepare(false);
    const bool has_limit = take_all();
    snapshot.asked = (MPIX_Monitor){.profile = 1, .coll = 1, .clock = 1};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        struct rows rows;
        if (i > 0 && has_limit)
            (void)take_all(); /* what the last report has left */
        if (i > 0)
            snapshot.file = fopen(path, "w");
        if (i == 1)
            report_is_last();
        codes[i] = write_report(&rows);
        warns[i] =
            has_line("# warning: waiting in rooted collectives is unknown: the program has all "
                     "communicators of MPI");
        rows_free(&rows);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    while (taken_count > 0)
        MPI_Comm_free(&taken[--taken_count]);
    assert_true(is_prepared);
    assert_int_equal(rooted, has_limit ? 0 : 3);
    for (int i = 0; i < 2; i++)
        assert_int_equal(warns[i], has_limit && rank == 0);
    assert_int_equal(codes[0], MPIX_MONITOR_SUCCESS);
    assert_int_equal(codes[1], MPIX_MONITOR_SUCCESS);
    assert_int_equal(codes[2], has_limit ? MPIX_MONITOR_ERR_COMMUNICATORS : MPIX_MONITOR_SUCCESS);
    if (rank == 0)
        assert_int_equal(strcmp(text, "before\n") == 0, has_limit);
}

/* Where the program needs the room of that communicator, only the last report is written. */
TEST(the_last_report_needs_none)
{
    struct rows rows;
    int codes[4];
    const bool is_prepared = report_prepare(false);
    for (int i = 0; i < 4; i++) {
        report_give_up_comm();
        has_room = i == 0 || rank > 0; /* all ranks have to */
        if (i == 2)
            report_is_last();
        if (i > 0)
            snapshot.file = fopen(path, "w");
        codes[i] = write_report(&rows);
        rows_free(&rows);
    }
    has_room = true;
    assert_true(is_prepared);
    assert_int_equal(codes[0], MPIX_MONITOR_SUCCESS);
    assert_int_equal(codes[1], MPIX_MONITOR_ERR_COMMUNICATORS);
    assert_int_equal(codes[2], MPIX_MONITOR_SUCCESS);
    /* One that nothing was made for before. */
    assert_int_equal(codes[3], MPIX_MONITOR_ERR_COMMUNICATORS);
}

TEST(without_memory_nothing_is_written)
{
    lacks_memory = rank == 0;
    struct rows rows;
    const int code = write_report(&rows);
    rows_free(&rows);
    assert_int_equal(code, MPIX_MONITOR_ERR_MEMORY);
    assert_string_equal(text, "before\n");
}

/* MPI_COMM_WORLD's errors are fatal, those of the monitor's own communicators are not. */
TEST(errors_on_own_communicators_return)
{
    int own_rank = MPI_PROC_NULL;
    MPI_Comm own = own_comm_make(MPI_COMM_WORLD);
    MPI_Comm_rank(own, &own_rank);
    assert_int_equal(own_rank, rank);
    assert_true(MPI_Comm_call_errhandler(own, MPI_ERR_WIN) == MPI_SUCCESS);
    MPI_Comm_free(&own);
}

const struct test_program test_program = {
    .mpi = true, .before_each = set_up, .after_each = tear_down};
