/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/wrap/environment.h"

#include "common/mpi/mpi_check.h"
#include "common/run/parse.h"
#include "monitor/lib/flags.h"
#include "monitor/lib/report/report.h"
#include "monitor/lib/wrap/api.h"
#include "monitor/lib/wrap/presence.h"

#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct word {
    const char *name; /* ends in "=" if a value follows */
    size_t flag;      /* without `set`: the flag's offset in the handle */
    /* Takes the value, which it may change; "" for a word without one. False if it is wrong. */
    bool (*set)(struct environment *environment, char *value);
    const char *hint; /* accepted values */
};

enum { NUMBER_LENGTH_MAX = 63 }; /* of a number with its unit */

static bool set_all(struct environment *environment, char *value)
{
    (void)value;
#define SET_FLAG(Flag) environment->handle.Flag = 1;
    MONITOR_FLAGS(SET_FLAG)
#undef SET_FLAG
    environment->handle.clock = 1;
    return true;
}

static bool set_site(struct environment *environment, char *value)
{
    const bool is_good = value[0] >= '1' && value[0] <= '0' + MPIX_MONITOR_CALLERS_MAX;
    environment->handle.site = is_good ? value[0] - '0' : 0;
    return is_good && value[1] == '\0';
}

static bool set_large(struct environment *environment, char *value)
{
    int64_t *const bytes = &environment->handle.large_bytes;
    return strlen(value) <= NUMBER_LENGTH_MAX && bc_parse_size(value, bytes) && *bytes >= 1;
}

/* The max timeout: some 30 years, which any clock can count. */
#define TIMEOUT_MAX_US 1e15

static bool set_timeout(struct environment *environment, char *value)
{
    /* "s" comes last, since the others end in it, too. */
    static const struct {
        const char *name;
        double us;
    } units[] = {{"ns", 1e-3}, {"us", 1.0}, {"ms", 1e3}, {"s", 1e6}};
    const size_t length = strlen(value);
    for (size_t i = 0; length <= NUMBER_LENGTH_MAX && i < sizeof units / sizeof *units; i++) {
        const size_t unit_length = strlen(units[i].name);
        if (length <= unit_length || strcmp(value + length - unit_length, units[i].name) != 0)
            continue;
        value[length - unit_length] = '\0';
        double number;
        if (!bc_parse_real(value, &number) || number < 0.0 || number > TIMEOUT_MAX_US / units[i].us)
            return false;
        environment->handle.timeout_us = number * units[i].us;
        return true;
    }
    return false;
}

static bool set_output(struct environment *environment, char *value)
{
    strcpy(environment->output, value);
    return value[0] != '\0';
}

#define FLAG(Flag) {#Flag, offsetof(MPIX_Monitor, Flag), NULL, NULL},
static const struct word words[] = {
    MONITOR_FLAGS(FLAG)
        MONITOR_DETAIL_FLAGS(FLAG){"clock", offsetof(MPIX_Monitor, clock), NULL, NULL},
    {"per-rank", offsetof(MPIX_Monitor, per_rank), NULL, NULL},
    {"all", 0, set_all, NULL},
    {"site=", 0, set_site, "use 1, 2 or 3 callers, such as site=3"},
    {"large=", 0, set_large, "use a size from 1 byte on, such as large=64K"},
    {"timeout=", 0, set_timeout,
     "use a time of 0 or more with its unit (ns, us, ms, s), such as timeout=1ms"},
    {"output=", 0, set_output, "use the name of a file, of at most 4095 characters"},
};
#undef FLAG

static bool set_word(struct environment *environment, const struct word *word, char *value)
{
    if (word->set != NULL)
        return word->set(environment, value);
    *(int *)(void *)((char *)&environment->handle + word->flag) = 1;
    return true;
}

/* Returns the word before the next comma or the end. NULL if it is none. */
static const struct word *find_word(const char *text)
{
    const size_t length = strcspn(text, ",");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t name_length = strlen(words[i].name);
        const bool has_value = words[i].name[name_length - 1] == '=';
        if (length >= name_length && strncmp(text, words[i].name, name_length) == 0 &&
            (has_value || length == name_length))
            return &words[i];
    }
    return NULL;
}

/* Returns the length of a word. The name of a file may have commas, unless a word follows. */
static size_t length_of(const char *text, const struct word *word)
{
    size_t length = strcspn(text, ",");
    if (word != NULL && word->set == set_output)
        while (text[length] != '\0' && find_word(text + length + 1) == NULL)
            length += 1 + strcspn(text + length + 1, ",");
    return length;
}

#define FLAG_TEXT(Flag) #Flag ", "
static const char words_text[] =
    MONITOR_FLAGS(FLAG_TEXT) MONITOR_DETAIL_FLAGS(FLAG_TEXT) "site=CALLERS, clock, all, per-rank, "
                                                             "large=SIZE, timeout=TIME or "
                                                             "output=FILE";
#undef FLAG_TEXT

static bool parse_words(const char *text, struct environment *environment, struct bc_error *error)
{
    enum { SHOWN = 100 }; /* characters of a wrong word */
    while (*text != '\0') {
        const struct word *const word = find_word(text);
        const size_t length = length_of(text, word);
        const int shown = length < SHOWN ? (int)length : SHOWN;
        if (word == NULL)
            return bc_error_set(error,
                                "MPIRT_MONITOR: '%.*s' is no word of it: use %s, with commas "
                                "between them",
                                shown, text, words_text);
        char value[sizeof environment->output];
        const size_t name_length = strlen(word->name);
        const int written =
            snprintf(value, sizeof value, "%.*s", (int)(length - name_length), text + name_length);
        if ((size_t)written >= sizeof value || !set_word(environment, word, value))
            return bc_error_set(error, "MPIRT_MONITOR: '%.*s': %s", shown, text, word->hint);
        text += length;
        if (*text == ',' && *++text == '\0')
            return bc_error_set(error,
                                "MPIRT_MONITOR: nothing follows its last comma: leave it out");
    }
    return true;
}

bool environment_parse(const char *text, struct environment *environment, struct bc_error *error)
{
    *environment = (struct environment){.handle = MPIX_MONITOR_DEFAULTS};
    /* The program may have chosen a locale with a decimal comma. */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t usual = uselocale(plain);
    const bool good = parse_words(text, environment, error);
    (void)uselocale(usual);
    if (plain != (locale_t)0)
        freelocale(plain);
    if (good && !any_flag(&environment->handle))
        (void)set_all(environment, NULL);
    environment->handle.profile = 1;
    return good;
}

static struct {
    bool started, is_off;
    int rank;
    struct environment environment;
    MPIX_Monitor_request request;
    FILE *file;
} run;

bool environment_asks(void)
{
    const char *const text = getenv("MPIRT_MONITOR");
    return text != NULL && text[0] != '\0';
}

/* Replaces the content of the file by this line. A pipe keeps its lines. */
static void write_note(FILE *file, const char *reason)
{
    rewind(file);
    (void)!ftruncate(fileno(file), 0);
    (void)fprintf(file, "# note: no report: %s\n", reason);
    (void)fflush(file);
}

static const char NOT_YET[] = "the program has not called MPI_Finalize, or not yet";

void environment_note(const char *reason)
{
    struct environment environment;
    struct bc_error error;
    struct stat status;
    if (!environment_asks() || !environment_parse(getenv("MPIRT_MONITOR"), &environment, &error) ||
        stat(environment.output, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    FILE *const file = fopen(environment.output, "r+e");
    if (file == NULL)
        return;
    write_note(file, reason != NULL ? reason : NOT_YET);
    (void)fclose(file);
}

static bool open_output(struct bc_error *error)
{
    char *const name = run.environment.output;
    const size_t length = strlen(name);
    run.file = stderr;
    if (length == 0)
        return true;
    /* A spawned job has its parent's variable, but must not overwrite its parent's report. */
    MPI_Comm parent;
    BC_MPI(PMPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        const size_t room = sizeof run.environment.output - length;
        if ((size_t)snprintf(name + length, room, ".spawned-%ld", (long)getpid()) >= room)
            return bc_error_set(error, "MPIRT_MONITOR: output=: the name is too long for a spawned "
                                       "job: use a shorter one");
    }
    /* "e": closed on exec */
    run.file = fopen(name, "we");
    if (run.file == NULL)
        return bc_error_set(error,
                            "MPIRT_MONITOR: output=: cannot write '%.200s': %s: use a file that "
                            "can be written",
                            name, strerror(errno));
    write_note(run.file, NOT_YET);
    report_replaces(run.file);
    return true;
}

/* Reads the variable and opens the file, on rank 0. False, with a line on stderr, if it can't. */
static bool read_variable(void)
{
    struct bc_error error = {""};
    if (environment_parse(getenv("MPIRT_MONITOR"), &run.environment, &error) && open_output(&error))
        return true;
    fprintf(stderr, "mpirtmon: %s\n", error.text);
    fflush(stderr);
    return false;
}

/* Takes rank 0's settings, or ends all processes if they are wrong. Collective. */
static void share_settings(void)
{
    struct {
        bool good;
        MPIX_Monitor handle;
    } settings;
    memset(&settings, 0, sizeof settings);
    run.file = stderr; /* only rank 0 writes it; NULL would mean no report */
    if (run.rank == 0) {
        settings.good = read_variable();
        settings.handle = run.environment.handle;
    }
    BC_MPI(PMPI_Bcast(&settings, sizeof settings, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (!settings.good) {
        /* Not MPI_Abort, with which launchers may lose the line. */
        PMPI_Finalize();
        exit(2);
    }
    run.environment.handle = settings.handle;
}

/* True if all ranks have the monitor. Then they may communicate. */
static bool all_ranks_monitor(void)
{
    int ranks;
    struct bc_error error;
    BC_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &run.rank));
    BC_MPI(PMPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (!presence_agree(run.rank, ranks, &error)) {
        if (error.text[0] != '\0')
            fprintf(stderr, "mpirtmon: %s\n", error.text);
        if (run.rank == 0)
            environment_note("not all ranks have the monitor");
        return false;
    }
    BC_MPI(PMPI_Barrier(MPI_COMM_WORLD));
    presence_end();
    return true;
}

/* Gives the monitor up, with the reason in the report's file. */
static void give_up(const char *reason)
{
    (void)monitors_drop();
    if (run.rank != 0 || run.file == stderr)
        return;
    write_note(run.file, reason);
    (void)fclose(run.file);
}

bool environment_start(void)
{
    if (!environment_asks() || !all_ranks_monitor())
        return false;
    share_settings();
    const char *const no_room = MPIX_Monitor_error_string(MPIX_MONITOR_ERR_COMMUNICATORS);
    const MPIX_Monitor *const asked = &run.environment.handle;
    const bool has_room = report_prepare(asked->coll != 0 && asked->clock != 0);
    int good = has_room;
    if (!has_room && run.rank == 0)
        fprintf(stderr, "mpirtmon: nothing is monitored: %s\n", no_room);
    const int code = MPIX_Start_monitor(&run.request, &run.environment.handle, run.file);
    if (code != MPIX_MONITOR_SUCCESS)
        fprintf(stderr, "mpirtmon: nothing is monitored: rank %d: %s\n", run.rank,
                MPIX_Monitor_error_string(code));
    good = good && code == MPIX_MONITOR_SUCCESS;
    BC_MPI(PMPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!good) {
        give_up(has_room ? "a rank could not start" : no_room);
        return false;
    }
    run.started = true;
    return true;
}

bool environment_runs(void) { return run.started; }

void environment_switch(bool on)
{
    if (!run.started || on != run.is_off)
        return;
    if (monitor_switch(&run.request, on))
        run.is_off = !on;
}

void environment_end(void)
{
    if (!run.started)
        return;
    environment_switch(true);
    run.started = false;
    report_is_last();
    int code = MPIX_End_monitor(&run.request, &run.environment.handle);
    if (run.rank != 0)
        return;
    const char *const name = run.environment.output;
    if (code != MPIX_MONITOR_SUCCESS && code != MPIX_MONITOR_ERR_OUTPUT && run.file != stderr)
        write_note(run.file, MPIX_Monitor_error_string(code));
    const bool closed = run.file == stderr || fclose(run.file) == 0;
    if (code == MPIX_MONITOR_SUCCESS && !closed)
        code = MPIX_MONITOR_ERR_OUTPUT;
    if (code != MPIX_MONITOR_SUCCESS)
        fprintf(stderr, "mpirtmon: %s: %s\n", name[0] != '\0' ? name : "stderr",
                MPIX_Monitor_error_string(code));
}
