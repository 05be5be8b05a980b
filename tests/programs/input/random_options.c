/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random command lines, environments and jobs for every program, and random values of
 * MPIRT_MONITOR. Each is accepted, and then all values survive being sent to another rank; or it is
 * refused in one line of text.
 *
 * usage: random_options [LINES [SEED]]
 */
#include "common/memory/allocate.h"
#include "common/run/internal.h"
#include "monitor/lib/wrap/environment.h"

#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define PROGRAM(constant) extern const struct bc_program constant;
#include "programs.def"
#undef PROGRAM
#define PROGRAM(constant) &constant,
static const struct bc_program *const programs[] = {
#include "programs.def"
};
#undef PROGRAM
#define PROGRAM(constant) +1
enum {
    PROGRAMS = 0
#include "programs.def"
};
#undef PROGRAM

enum { WORDS_MAX = 5, WORD_MAX = 300 };

static const char *const values[] = {"",
                                     "0",
                                     "-0",
                                     "1",
                                     "-1",
                                     "7",
                                     "8",
                                     "64",
                                     "1.5",
                                     "5%",
                                     "101%",
                                     "1e308",
                                     "1e-320",
                                     "1e999",
                                     "nan",
                                     "inf",
                                     "0x10",
                                     "1:8",
                                     "8:1",
                                     "1:4M",
                                     "1:2:3",
                                     "8,1K,1M",
                                     "8,",
                                     ",",
                                     "1K",
                                     "3G",
                                     "16E",
                                     "8EB",
                                     "K",
                                     "all",
                                     "auto",
                                     "0,auto",
                                     "none",
                                     "median",
                                     "mean",
                                     "yes",
                                     "no",
                                     "put",
                                     "MPI Send",
                                     "put,,get",
                                     "barrier",
                                     "window",
                                     "persistent",
                                     "2x2x1",
                                     "0x0x0",
                                     "-1x1x1",
                                     "10x20x",
                                     "host",
                                     "device",
                                     "device:",
                                     "managed:host",
                                     "table",
                                     "main,status",
                                     "short",
                                     "\xff\xfe\xc3",
                                     "\x1b[2J",
                                     "a\nb",
                                     "%s%n",
                                     "\u2028",
                                     "double,int",
                                     "rotate",
                                     "rank",
                                     "all-start",
                                     "a,b:c=d",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "-9223372036854775809",
                                     "99999999999999999999999"};
static const int ranks[] = {1, 2, 3, 4, 6, 7, 8, 16, 27, 64, 1000, 1024};
static const int64_t sizes[] = {0, 4096, 1 << 26, INT64_C(64) << 30, INT64_MAX};

static uint64_t state;

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static size_t below(size_t limit)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % limit);
}

#define CHOOSE(array) ((array)[below(COUNT(array))])

static struct {
    char words[WORDS_MAX][WORD_MAX];
    char *pointers[WORDS_MAX + 1];
    int count;
    const char *variable, *value;
} line;

static void must(int condition, const char *text, const char *error)
{
    if (condition)
        return;
    (void)fprintf(stderr, "%s: '%s'\n", text, error);
    for (int i = 0; i < line.count; i++)
        (void)fprintf(stderr, "  %s\n", line.words[i]);
    abort();
}

static const char *look_up_variable(const char *name)
{
    return line.variable != NULL && strcmp(name, line.variable) == 0 ? line.value : NULL;
}

/* Writes a value to `text`, some with a few of their bytes replaced. */
static void make_value(char *text, size_t room)
{
    if (below(50) == 0)
        (void)memset(text, 'x', room - 1);
    else
        (void)snprintf(text, room, "%s", CHOOSE(values));
    const size_t length = strlen(text);
    for (size_t i = below(5) == 0 ? below(3) : 0; i > 0 && length > 0; i--)
        text[below(length)] = (char)(1 + below(255));
}

static void make_line(const struct bc_options *options)
{
    static char name[] = "program", value[WORD_MAX];
    line.count = 1 + (int)below(WORDS_MAX);
    line.pointers[0] = name;
    line.variable = NULL;
    for (int i = 1; i < line.count; i++) {
        const struct bc_option *const option = options->entries[below(options->count)].option;
        char *const word = line.words[i];
        int length = 0;
        if (option->short_name != '\0' && below(3) == 0)
            length = snprintf(word, WORD_MAX, "-%c", option->short_name);
        else if (below(10) > 0)
            length = snprintf(word, WORD_MAX, "--%.*s%s", (int)(below(10) > 0 ? 80 : below(8)),
                              option->long_name, below(8) > 0 ? "=" : "");
        make_value(word + length, (size_t)(WORD_MAX - length));
        line.pointers[i] = word;
        if (option->variables != NULL && below(4) == 0) {
            make_value(value, sizeof value);
            line.value = value;
            line.variable = option->variables;
        }
    }
    line.pointers[line.count] = NULL;
}

static void make_job(struct bc_run *run)
{
    const int count = CHOOSE(ranks);
    const bool oversubscribed = below(2) == 0;
    run->job = (struct bc_job){.ranks = count,
                               .nodes = 1,
                               .min_per_node = count,
                               .max_per_node = count,
                               .min_processors = oversubscribed ? 1 : count,
                               .shares_processors = oversubscribed,
                               .oversubscribed = oversubscribed,
                               .memory_per_rank = CHOOSE(sizes),
                               .shared_memory_per_rank = CHOOSE(sizes)};
    run->thread_level = below(2) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

/* The program has chosen a locale of UTF-8. */
static void check_refusal(const char *error)
{
    must(error[0] != '\0', "refused without a word", error);
    must(mbstowcs(NULL, error, 0) != (size_t)-1, "the error is no text", error);
    for (const char *c = error; *c != '\0'; c++)
        must(!iscntrl((unsigned char)*c), "the error is not one line", error);
}

static void prepare(struct bc_run *run, const struct bc_program *program)
{
    bc_run_prepare(run, program, bc_allocate(program->state_bytes + 1, 1, "no memory"));
}

static void release(struct bc_run *run)
{
    void *const own = run->own->state;
    bc_run_release(run);
    free(own);
}

/* Sends the values to another rank. */
static void check_broadcast(const struct bc_program *program, const struct bc_run *run)
{
    struct bc_run other;
    const struct bc_text text = bc_options_encode(&run->options);
    char *const sent = bc_allocate(text.length, 1, "no memory");
    memcpy(sent, text.start, text.length);
    prepare(&other, program);
    must(bc_options_decode(&other.options, sent, text.length), "the values can't be decoded",
         text.start);
    const struct bc_text again = bc_options_encode(&other.options);
    must(text.length == again.length && memcmp(text.start, again.start, text.length) == 0,
         "the values change when they are sent", again.start);
    free(again.start);
    free(text.start);
    release(&other);
}

/* Returns true if the program accepts the line. */
static bool try_line(const struct bc_program *program)
{
    struct bc_run run;
    struct bc_error error = {""};
    prepare(&run, program);
    make_line(&run.options);
    make_job(&run);
    const bool accepted = bc_run_accept(&run, line.count, line.pointers, look_up_variable, &error);
    if (accepted) {
        must(error.text[0] == '\0', "accepted with an error", error.text);
        check_broadcast(program, &run);
    } else {
        check_refusal(error.text);
    }
    release(&run);
    return accepted;
}

static void try_monitor(void)
{
    static const char *const words[] = {
        "all", "pttopt", "coll", "large=", "timeout=", "output=", "us", ",", ",,", "x"};
    static struct environment environment;
    struct bc_error error = {""};
    char text[WORD_MAX] = "";
    for (size_t i = below(6); i > 0; i--) {
        (void)strcat(text, CHOOSE(words));
        make_value(text + strlen(text), 20);
    }
    if (!environment_parse(text, &environment, &error))
        check_refusal(error.text);
    else
        must(environment.handle.profile == 1 && environment.handle.large_bytes >= 1 &&
                 environment.handle.timeout_us >= 0.0 &&
                 strlen(environment.output) < sizeof environment.output,
             "accepted words of MPIRT_MONITOR", text);
}

int main(int argc, char **argv)
{
    const long lines = argc > 1 ? strtol(argv[1], NULL, 10) : 40000;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    must(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "no locale C.UTF-8", "");
    long accepted = 0;
    for (long i = 0; i < lines; i++) {
        accepted += try_line(programs[i % PROGRAMS]);
        try_monitor();
    }
    (void)printf("%ld of %ld lines accepted\n", accepted, lines);
    /* Others would show nothing. */
    return accepted < lines / 50 || accepted > lines * 49 / 50;
}
