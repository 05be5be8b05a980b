#include "judge.h"

#include "common/memory/allocate.h"
#include "common/run/parse.h"
#include "common/result/text.h"

#include <ctype.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What is known of a line, and found. */
struct trial {
    const struct bc_program *program;
    const struct line *line;
    const struct job *job;
    bool good;
    bool accepted; /* and no help or version */
    struct bc_error error;
};

static const struct line *line_in_hand;

static const char *look_up_variable(const char *name)
{
    for (size_t i = 0; i < line_in_hand->variable_count; i++)
        if (strcmp(line_in_hand->variables[i].name, name) == 0)
            return line_in_hand->variables[i].value;
    return NULL;
}

static void complain(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(struct trial *trial, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    trial->good = false;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* Whether the text has the name by itself, not as a part of a longer one. */
static bool has_name(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name))
        if (!isalnum((unsigned char)at[length]) && at[length] != '-')
            return true;
    return false;
}

/* Whether the text has a name of the option: --NAME, -N or a variable. */
static bool names_option(const char *text, const struct bc_option *option)
{
    char name[80];
    (void)snprintf(name, sizeof name, "--%s", option->long_name);
    if (has_name(text, name))
        return true;
    (void)snprintf(name, sizeof name, "-%c", option->short_name);
    if (option->short_name != '\0' && starts_with(text, name) && text[2] == ':')
        return true;
    for (const char *variable = option->variables; variable != NULL;) {
        const size_t length = strcspn(variable, " ");
        if (strncmp(text, variable, length) == 0 && text[length] == ':')
            return true;
        variable = variable[length] != '\0' ? variable + length + 1 : NULL;
    }
    return false;
}

/* True if the text names an option. */
static bool names_one(const char *text, const struct bc_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (names_option(text, options->entries[i].option))
            return true;
    return false;
}

/* Whether the text begins with one of the words up to its value, as far as an error
   shows it, in quotes or not. */
static bool names_word(const char *text, const struct line *line)
{
    const char *const shown = *text == '\'' ? text + 1 : text;
    for (int i = 1; i < line->count; i++) {
        char word[64];
        (void)snprintf(word, sizeof word, "%s", line->words[i]);
        if (*text != '\'')
            word[strcspn(word, "=")] = '\0';
        bc_make_plain_text(word, '?');
        /* What was cut within a character looks different there. */
        word[strlen(word) < 60 ? strlen(word) : 60] = '\0';
        if (starts_with(shown, word))
            return true;
    }
    return false;
}

static bool is_one_line_of_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            return false;
    /* This program's main() has chosen a locale of UTF-8. */
    return mbstowcs(NULL, text, 0) != (size_t)-1;
}

static void judge_refusal(struct trial *trial, const struct bc_run *run)
{
    const char *const text = trial->error.text;
    const struct line *const line = trial->line;
    if (text[0] == '\0')
        complain(trial, "refused without a word");
    if (strlen(text) >= BC_ERROR_LENGTH)
        complain(trial, "the error is too long");
    if (!is_one_line_of_text(text))
        complain(trial, "the error is not one line of text: %s", text);
    if (!names_one(text, &run->options) && !names_word(text, line) &&
        strstr(text, "processes") == NULL)
        complain(trial, "the error names nothing: %s", text);
}

/* ---- what was accepted ----------------------------------------------------------------------- */

/* Another rank gets the same values, and can use them. */
static void judge_broadcast(struct trial *trial, const struct bc_run *run)
{
    struct bc_run other;
    struct bc_error error = {""};
    const struct bc_text text = bc_options_encode(&run->options);
    char *const sent = bc_allocate(text.length, 1, "no memory");
    memcpy(sent, text.start, text.length);
    program_prepare(&other, trial->program);
    if (!bc_options_decode(&other.options, sent, text.length)) {
        complain(trial, "the values can't be decoded");
    } else {
        const struct bc_text again = bc_options_encode(&other.options);
        if (text.length != again.length || memcmp(text.start, again.start, text.length) != 0)
            complain(trial, "the values change when they are sent");
        free(again.start);
        if (trial->accepted && trial->program->complete != NULL &&
            !trial->program->complete(other.own->state, &error))
            complain(trial, "another rank refuses the values: %s", error.text);
    }
    free(text.start);
    program_release(&other);
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct job job_with(uint64_t number)
{
    static const int ranks[] = {1, 2, 3, 4, 6, 7, 8, 16, 27, 64, 1000, 1024, 65536, 1 << 20};
    static const int64_t bytes[] = {
        0,        1, 4096, 1 << 20, 1 << 26, INT64_C(1) << 30, INT64_C(64) << 30, INT64_C(1) << 45,
        INT64_MAX};
    /* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), whose bits are independent choices. */
    uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (struct job){
        .ranks = z % 4 == 0 ? 1 + (int)(z >> 8 & 0xfffff) : ranks[(z >> 8) % COUNT(ranks)],
        .thread_level = (z >> 2) % 2 == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
        .oversubscribed = (z >> 3) % 2 == 0,
        .memory_per_rank = bytes[(z >> 32) % COUNT(bytes)],
        .shared_memory_per_rank = bytes[(z >> 48) % COUNT(bytes)],
    };
}

static void fill_job(struct bc_run *run, const struct job *job)
{
    run->job = (struct bc_job){.ranks = job->ranks,
                               .nodes = 1,
                               .min_per_node = job->ranks,
                               .max_per_node = job->ranks,
                               .min_processors = job->oversubscribed ? 1 : job->ranks,
                               .shares_processors = job->oversubscribed,
                               .oversubscribed = job->oversubscribed};
    run->thread_level = job->thread_level;
    run->job.memory_per_rank = job->memory_per_rank;
    run->job.shared_memory_per_rank = job->shared_memory_per_rank;
}

/* The line as the program takes it. */
static void try_line(struct trial *trial, struct bc_run *run)
{
    const struct line *const line = trial->line;
    fill_job(run, trial->job);
    if (!bc_run_accept(run, line->count, line->words, look_up_variable, &trial->error)) {
        judge_refusal(trial, run);
        return;
    }
    trial->accepted = !run->settings.help && !run->settings.version;
    if (trial->error.text[0] != '\0')
        complain(trial, "accepted, with the error: %s", trial->error.text);
    judge_broadcast(trial, run);
}

bool judge(const struct bc_program *program, const struct line *line, const struct job *job)
{
    struct trial trial = {.program = program, .line = line, .job = job, .good = true};
    struct bc_run run;
    line_in_hand = line;
    program_prepare(&run, program);
    try_line(&trial, &run);
    program_release(&run);
    return trial.good;
}
