/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variable MPIRT_MONITOR: what its words mean, and what a whole run does with it. Run on 1 and
 * 3 ranks. `test_monitor_environment start` only starts and ends the monitor that the variable asks
 * for: for values that end the job, and for the job that `test_monitor_environment spawn` spawns.
 */
#include "ranks.h"
#include "streams.h"

#include "common/job/job.h"
#include "monitor/lib/report/report.h"
#include "monitor/lib/wrap/api.h"
#include "monitor/lib/wrap/environment.h"
#include "monitor/lib/wrap/presence.h"

#include <glob.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- stand-ins for the monitor --------------------------------------------------------------- */

static MPIX_Monitor started_with;
static FILE *started_file;
static int starts, ends, start_code, end_code;

int MPIX_Start_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle, FILE *f)
{
    request->serial = 42;
    started_with = *handle;
    started_file = f;
    starts++;
    return start_code;
}

int MPIX_End_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle)
{
    ends += request->serial == 42;
    if (rank == 0 && started_file != stderr)
        fputs("the report\n", started_file);
    return end_code;
}

const char *MPIX_Monitor_error_string(int code) { return "as the test wants"; }

/* Asked without the variable, or where not all ranks are there, nothing more may happen. */
static bool are_there = true;

bool presence_agree(int of, int number, struct bc_error *why)
{
    assert_int_equal(of, rank);
    assert_int_equal(number, ranks);
    (void)snprintf(why->text, sizeof why->text, "%s",
                   are_there || rank > 0 ? "" : "as the test wants");
    return are_there;
}

void presence_end(void) {}

static int reserved, drops, switches;
static bool has_room = true;

static int comparisons;

bool report_prepare(bool compares_clocks)
{
    assert_true(starts == 0 || !compares_clocks);
    reserved++;
    comparisons += compares_clocks;
    return has_room;
}

void report_is_last(void) {}

void report_replaces(FILE *file) { assert_int_equal(rank, 0); }

int monitors_drop(void) { return drops++; }

bool monitor_switch(const MPIX_Monitor_request *request, bool on)
{
    assert_int_equal(request->serial, 42);
    assert_int_equal(on, switches % 2);
    switches++;
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

static struct environment environment;
static struct bc_error error;

static void accept(const char *text)
{
    memset(&environment, 0x55, sizeof environment);
    error.text[0] = '\0';
    if (!environment_parse(text, &environment, &error))
        fail_msg("'%s' is refused: %s", text, error.text);
    assert_int_equal(environment.handle.profile, 1);
}

/* The error is one line, names the variable and the culprit, and ends with the remedy. */
static void refuse(const char *text, const char *culprit)
{
    error.text[0] = '\0';
    if (environment_parse(text, &environment, &error))
        fail_msg("'%s' is accepted", text);
    assert_null(strchr(error.text, '\n'));
    if (strncmp(error.text, "MPIRT_MONITOR: ", 15) != 0 || strstr(error.text, culprit) == NULL ||
        (strstr(error.text, ": use ") == NULL && strstr(error.text, "leave it out") == NULL))
        fail_msg("'%s' is refused with '%s'", text, error.text);
}

/* Checks the flags, in the order other, pttopt, coll, comm, msgsize, traffic, calls, sizes, clock.
 */
static void assert_flags(const char *flags)
{
    const MPIX_Monitor *const h = &environment.handle;
    const int set[] = {h->other,   h->pttopt, h->coll,  h->comm, h->msgsize,
                       h->traffic, h->calls,  h->sizes, h->clock};
    for (int i = 0; i < 9; i++)
        assert_int_equal(set[i], flags[i] == '1');
}

TEST(each_flag_is_a_word)
{
    static const struct {
        const char *text, *flags, *output;
    } cases[] = {
        {"other", "100000000", ""},
        {"pttopt", "010000000", ""},
        {"coll", "001000000", ""},
        {"comm", "000100000", ""},
        {"msgsize", "000010000", ""},
        {"traffic", "000001000", ""},
        {"calls", "000000100", ""},
        {"sizes", "000000010", ""},
        {"all", "111111111", ""},
        {"coll,clock", "001000001", ""},
        {"coll,pttopt,coll", "011000000", ""},
        /* Without flags it is all. */
        {"", "111111111", ""},
        {"clock", "111111111", ""},
        {"large=1", "111111111", ""},
        {"per-rank", "111111111", ""},
        {"timeout=1s,per-rank,large=2", "111111111", ""},
        /* Names of files have whatever is no word. */
        {"output=a", "111111111", "a"},
        {"output=a,coll", "001000000", "a"},
        {"coll,output=a,b.tsv", "001000000", "a,b.tsv"},
        {"output=a,b,coll", "001000000", "a,b"},
        {"output=a,coll,output=b", "001000000", "b"},
        {"output=a,,b", "111111111", "a,,b"},
        {"output=a,", "111111111", "a,"},
        {"output=a,collective", "111111111", "a,collective"},
        {"output=a=b,large=1", "111111111", "a=b"},
        {"output= ", "111111111", " "},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        accept(cases[i].text);
        assert_flags(cases[i].flags);
        assert_int_equal(environment.handle.per_rank, strstr(cases[i].text, "per-rank") != NULL);
        assert_string_equal(environment.output, cases[i].output);
    }
    accept("coll");
    assert_int_equal(environment.handle.large_bytes, MPIX_MONITOR_LARGE_BYTES);
    assert_near(environment.handle.timeout_us, 0.0, 0.0);
    assert_string_equal(environment.output, "");
    accept("comm,large=64K,per-rank,timeout=1ms,traffic,output=/tmp/a file.tsv");
    assert_flags("000101000");
    assert_int_equal(environment.handle.per_rank, 1);
    assert_int_equal(environment.handle.large_bytes, 65536);
    assert_near(environment.handle.timeout_us, 1000.0, 0.0);
    assert_string_equal(environment.output, "/tmp/a file.tsv");
}

TEST(sizes)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {{"large=1", 1},
                 {"large=2k", 2048},
                 {"large=3M", 3 << 20},
                 {"large=1G", 1 << 30},
                 {"large=9223372036854775807", INT64_MAX},
                 {"large=5,large=6", 6}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        accept(cases[i].text);
        assert_int_equal(environment.handle.large_bytes, cases[i].bytes);
    }
    static const char *const wrong[] = {"0",           "-1",   "",   "K",
                                        "1.5K",        "64KB", "1T", "9223372036854775808",
                                        "8589934592G", " 1",   "1 ", "0x10"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char text[64];
        snprintf(text, sizeof text, "large=%s", wrong[i]);
        refuse(text, text);
    }
    refuse("large=1000000000000000000000000000000000000000000000000000000000000000000000000",
           "large=1000000");
}

TEST(times)
{
    static const struct {
        const char *text;
        double us;
    } cases[] = {{"500ns", 0.5}, {"1us", 1.0},   {"1.5ms", 1500.0}, {"2s", 2e6},
                 {"0s", 0.0},    {"1e-3s", 1e3}, {"1e9s", 1e15},    {"0.001ns", 1e-6}};
    char text[64];
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(text, sizeof text, "timeout=%s", cases[i].text);
        accept(text);
        assert_near(environment.handle.timeout_us, cases[i].us, cases[i].us * 1e-15);
    }
    static const char *const wrong[] = {
        "",      "1",  "0",    "s",      "ms",     "-1us", "1 ms", "1m",    "1 s",   "infs",
        "nanns", "1S", "1us ", "1e300s", "1.1e9s", "1min", "us1",  "1usus", "0x1us", "1;2s"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        snprintf(text, sizeof text, "timeout=%s", wrong[i]);
        refuse(text, text);
    }
}

TEST(times_in_any_locale)
{
    if (!choose_decimal_comma())
        skip();
    const bool good = environment_parse("timeout=1.5us", &environment, &error);
    const bool comma = environment_parse("timeout=1,5us", &environment, &error);
    char number[16];
    snprintf(number, sizeof number, "%.1f", 0.5);
    setlocale(LC_ALL, "C");
    assert_true(good);
    assert_false(comma);
    assert_string_equal(number, "0,5");
}

TEST(very_long_texts)
{
    enum { LENGTH = 1000000 };
    char *const text = malloc(LENGTH + 1);
    assert_non_null(text);
    memset(text, 'x', LENGTH);
    text[LENGTH] = '\0';
    for (const char *const *word = WORDS("xxx", "output=", "timeout=", "large="); *word; word++) {
        memcpy(text, *word, strlen(*word));
        refuse(text, *word);
    }
    for (int i = 0; i + 5 <= LENGTH; i += 5)
        memcpy(text + i, "coll,", 5);
    text[LENGTH - 1] = '\0';
    accept(text);
    assert_flags("001000000");
    /* The longest name, and one longer. */
    memcpy(text, "output=", 7);
    memset(text + 7, 'f', 4096);
    text[7 + 4095] = '\0';
    accept(text);
    assert_int_equal(strlen(environment.output), 4095);
    text[7 + 4095] = 'f';
    text[7 + 4096] = '\0';
    refuse(text, "at most 4095");
    free(text);
}

/* ---- a whole run ----------------------------------------------------------------------------- */

#define NO_REPORT "# note: no report: the program has not called MPI_Finalize, or not yet\n"

static bool has_started;

/* A whole run, with this value of the variable, or without the variable. */
static void whole_run(const char *variable)
{
    if (variable != NULL)
        setenv("MPIRT_MONITOR", variable, 1);
    starts = ends = 0;
    has_started = environment_start();
    environment_end();
    unsetenv("MPIRT_MONITOR");
}

static void assert_runs(int count)
{
    assert_int_equal(starts, count);
    assert_int_equal(ends, count);
    assert_int_equal(has_started, count > 0);
}

/* All ranks follow rank 0's variable, whatever their own. */
TEST(ranks_follow_rank_0)
{
    char name[64] = "", variable[128];
    snprintf(name, sizeof name, "/tmp/commcost_test_environment.%ld", (long)getpid());
    snprintf(variable, sizeof variable, "coll,large=3,timeout=2us,per-rank,output=%s", name);
    end_code = MPIX_MONITOR_SUCCESS;
    whole_run(rank == 0 ? variable : "nonsense");
    char text[128] = "";
    if (rank == 0)
        read_text(name, text, sizeof text);
    unlink(name);
    assert_runs(1);
    assert_int_equal(started_with.profile, 1);
    assert_int_equal(started_with.coll, 1);
    assert_int_equal(started_with.pttopt, 0);
    assert_int_equal(started_with.per_rank, 1);
    assert_int_equal(started_with.large_bytes, 3);
    assert_near(started_with.timeout_us, 2.0, 0.0);
    assert_non_null(started_file);
    /* report_write, which isn't here, empties the file. */
    assert_string_equal(text, rank == 0 ? NO_REPORT "the report\n" : "");
}

TEST(without_the_variable_nothing_starts)
{
    reserved = 0;
    unsetenv("MPIRT_MONITOR");
    whole_run(NULL);
    whole_run(""); /* which is as not set */
    are_there = false;
    whole_run(rank == 0 ? NULL : "all");
    whole_run(rank == 0 ? "all" : NULL);
    are_there = true;
    assert_runs(0);
    assert_int_equal(reserved, 0);
}

/* Where one rank can't start, none does. */
TEST(ranks_start_together)
{
    drops = 0;
    start_code = rank == ranks - 1 ? MPIX_MONITOR_ERR_MEMORY : MPIX_MONITOR_SUCCESS;
    whole_run("coll");
    start_code = MPIX_MONITOR_SUCCESS;
    has_room = false;
    whole_run("coll");
    has_room = true;
    assert_int_equal(ends, 0);
    assert_int_equal(drops, 2);
}

/* Each switch to what it is already does nothing, and it is on at the end. */
TEST(it_can_be_switched)
{
    switches = 0;
    environment_switch(false);
    setenv("MPIRT_MONITOR", "coll", 1);
    (void)environment_start();
    for (int i = 0; i < 6; i++)
        environment_switch(i / 2 % 2 == 1);
    assert_int_equal(switches, 3);
    environment_end();
    unsetenv("MPIRT_MONITOR");
    assert_int_equal(switches, 4);
}

/* A report that was not written leaves its reason. */
TEST(reasons)
{
    char name[64], variable[128], text[128] = "";
    snprintf(name, sizeof name, "/tmp/commcost_test_environment.%ld", (long)getpid());
    snprintf(variable, sizeof variable, "coll,output=%s", name);
    end_code = MPIX_MONITOR_ERR_COMMUNICATORS;
    whole_run(variable);
    end_code = MPIX_MONITOR_SUCCESS;
    if (rank == 0)
        read_text(name, text, sizeof text);
    unlink(name);
    assert_string_equal(text, rank == 0 ? "# note: no report: as the test wants\n" : "");
}

/* The file that the variable names, if there is one. */
TEST(notes)
{
    char name[64], variable[128], text[128];
    snprintf(name, sizeof name, "/tmp/commcost_test_environment.%ld", (long)getpid());
    snprintf(variable, sizeof variable, "coll,output=%s", name);
    setenv("MPIRT_MONITOR", variable, 1);
    environment_note("no file");
    assert_int_equal(access(name, F_OK), -1);
    FILE *const file = fopen(name, "w");
    fputs("a report of an earlier run, which is longer than the note that takes its place ......\n",
          file);
    fclose(file);
    environment_note(NULL);
    assert_string_equal(read_text(name, text, sizeof text), NO_REPORT);
    environment_note("a reason");
    assert_string_equal(read_text(name, text, sizeof text), "# note: no report: a reason\n");
    unlink(name);
    unsetenv("MPIRT_MONITOR");
}

/* Where rank 0's variable asks for a clock, and for collectives, which it is for. */
TEST(clocks_are_compared_where_asked_for)
{
    static const struct {
        const char *variable;
        int comparisons;
    } cases[] = {{"coll", 0}, {"coll,clock", 1}, {"all", 1}, {"pttopt,clock", 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        comparisons = 0;
        whole_run(rank == 0 ? cases[i].variable : "coll");
        assert_runs(1);
        assert_int_equal(comparisons, cases[i].comparisons);
        assert_int_equal(started_with.clock, strcmp(cases[i].variable, "coll") != 0);
    }
}

/* The reports of a job and of the job that it spawns are both there, side by side. Both have the
   launcher's variable: "output=FOLDER/report". */
static bool spawned_jobs_have_their_own_report(char *program)
{
    const char *const name = getenv("MPIRT_MONITOR") + strlen("output=");
    (void)environment_start();
    MPI_Comm children;
    char *start[] = {"start", NULL};
    MPI_Comm_spawn(program, start, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&children);
    environment_end();
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s*", name);
    glob_t found;
    bool good = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 2 &&
                strstr(found.gl_pathv[1], "/report.spawned-") != NULL;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char text[128];
        good = good && strcmp(read_text(found.gl_pathv[i], text, sizeof text),
                              NO_REPORT "the report\n") == 0;
        unlink(found.gl_pathv[i]);
    }
    globfree(&found);
    return good;
}

/* Starts and ends a monitor of a whole run. In a spawned job, lets the parent continue afterwards.
 */
static bool start_only(void)
{
    (void)environment_start();
    environment_end();
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    return true;
}

/* With an argument does that alone. */
static void do_as_told(void)
{
    if (arguments[1] == NULL)
        return;
    const bool good = strcmp(arguments[1], "spawn") == 0
                          ? spawned_jobs_have_their_own_report(arguments[0])
                          : start_only();
    MPI_Finalize();
    exit(!good);
}

const struct test_program test_program = {.mpi = true, .set_up = do_as_told};
