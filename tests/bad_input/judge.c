#include "judge.h"

#include "common/run/parse.h"
#include "common/result/plain_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of as many sizes as there can be takes that much. */
#define VALUE_BYTES (4096 * 24 + 64)

/* What a visit of a program knows and finds. */
struct trial {
    const struct line *line;
    const struct job *job;
    bool good;
    enum outcome outcome;
    struct bc_error error;
    char **formatted; /* the options' values as text; NULL: not to be read back */
    double *numbers;  /* and as numbers */
    size_t count;
    bool *given;
};

static const struct line *line_in_hand;

static const char *look_up_variable(const char *name)
{
    for (size_t i = 0; i < line_in_hand->variable_count; i++)
        if (strcmp(line_in_hand->variables[i].name, name) == 0)
            return line_in_hand->variables[i].value;
    return NULL;
}

static const char *no_variable(const char *name)
{
    (void)name;
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

/* Whether the text has the name, and not as a part of a longer one. */
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

static bool names_anything(const char *text, const struct bc_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (names_option(text, &options->rows[i]))
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
    /* The program's main() has chosen a locale of UTF-8. */
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
    if (line->expectation == OPTION_IS_BAD &&
        !names_option(text, bc_options_find(&run->options, line->culprit)))
        complain(trial, "--%s is bad, but the error is: %s", line->culprit, text);
    if (!names_anything(text, &run->options) && !names_word(text, line) &&
        strstr(text, "processes") == NULL)
        complain(trial, "the error names nothing: %s", text);
}

/* ---- what was accepted ----------------------------------------------------------------------- */

/* The value where it is a number; of a list their sum; else 0. */
static double number_of(const struct bc_option *option)
{
    double sum = 0.0;
    switch (option->kind) {
    case BC_INTEGER:
    case BC_SIZE:
        return (double)*(int64_t *)option->value;
    case BC_REAL:
    case BC_PERCENT:
        return *(double *)option->value;
    case BC_SIZE_LIST: {
        const struct bc_size_list *const list = option->value;
        for (size_t i = 0; i < list->count; i++)
            sum += (double)list->values[i] * (double)(i + 1);
        return sum;
    }
    case BC_CHOICE:
        return *(int *)option->value;
    case BC_FLAG:
        return *(bool *)option->value;
    case BC_TEXT:
        break;
    }
    return 0.0;
}

/* That the number is still that of format_values, to the last bit. */
static void judge_number(struct trial *trial, const struct bc_option *option, size_t i)
{
    if (number_of(option) < trial->numbers[i] || number_of(option) > trial->numbers[i])
        complain(trial, "--%s was %.17g and has become %.17g", option->long_name, trial->numbers[i],
                 number_of(option));
}

/* A table that is given what another one has encodes to the same text. */
static void judge_broadcast(struct trial *trial, struct bc_run *run)
{
    char *const text = bc_options_encode(&run->options);
    if (text == NULL || !bc_options_decode(&run->options, text)) {
        complain(trial, "the values can't be decoded");
    } else {
        char *const again = bc_options_encode(&run->options);
        if (again == NULL || strcmp(text, again) != 0)
            complain(trial, "the values change when they are sent: '%.200s' becomes '%.200s'", text,
                     again != NULL ? again : "nothing");
        free(again);
        for (size_t i = 0; i < run->options.count; i++)
            judge_number(trial, &run->options.rows[i], i);
    }
    free(text);
}

/* A text may be missing, which can't be written; so can the 0 that has a name. */
static bool can_be_read_back(const struct bc_option *option, const char *text)
{
    if (option->kind == BC_TEXT)
        return *(const char **)option->value != NULL;
    return option->zero == NULL || strcmp(text, option->zero) != 0;
}

static void format_values(struct trial *trial, const struct bc_run *run)
{
    trial->count = run->options.count;
    trial->formatted = calloc(trial->count, sizeof *trial->formatted);
    trial->numbers = calloc(trial->count, sizeof *trial->numbers);
    trial->given = calloc(trial->count, sizeof *trial->given);
    char *const value = malloc(VALUE_BYTES);
    if (trial->formatted == NULL || trial->numbers == NULL || trial->given == NULL || value == NULL)
        abort();
    for (size_t i = 0; i < trial->count; i++) {
        const struct bc_option *const option = &run->options.rows[i];
        trial->numbers[i] = number_of(option);
        bc_option_format(option, value, VALUE_BYTES);
        if (strlen(value) + 1 >= VALUE_BYTES || !can_be_read_back(option, value))
            continue;
        trial->formatted[i] = strdup(value);
        trial->given[i] = option->source != BC_FROM_DEFAULT;
    }
    free(value);
}

/* ---- visits ---------------------------------------------------------------------------------- */

static void fill_job(struct bc_run *run, const struct job *job)
{
    run->job = (struct bc_job){.ranks = job->ranks,
                               .nodes = 1,
                               .least_per_node = job->ranks,
                               .most_per_node = job->ranks,
                               .least_processors = job->oversubscribed ? 1 : job->ranks,
                               .shares_processors = job->oversubscribed,
                               .oversubscribed = job->oversubscribed};
    run->thread_level = job->thread_level;
    run->memory_per_rank = job->memory_per_rank;
    run->shared_memory_per_rank = job->shared_memory_per_rank;
}

/* The line as the program takes it. */
static void visit_line(struct bc_run *run, void *context)
{
    struct trial *const trial = context;
    const struct line *const line = trial->line;
    line_in_hand = line;
    fill_job(run, trial->job);
    const bool accepted =
        bc_run_accept(run, line->count, line->words, look_up_variable, &trial->error);
    if (!accepted) {
        trial->outcome = REFUSED;
        judge_refusal(trial, run);
        return;
    }
    trial->outcome = run->settings.help || run->settings.version ? ANSWERED : ACCEPTED;
    if (trial->error.text[0] != '\0')
        complain(trial, "accepted, with the error: %s", trial->error.text);
    if (line->expectation == OPTION_IS_BAD)
        complain(trial, "--%s is bad, and accepted", line->culprit);
    if (line->expectation == LINE_IS_BAD)
        complain(trial, "a bad line is accepted");
    format_values(trial, run);
    judge_broadcast(trial, run);
}

/* Each value by itself, without the checks that the job may fail. */
static void visit_values(struct bc_run *run, void *context)
{
    struct trial *const trial = context;
    const struct line *const line = trial->line;
    struct bc_error error = {""};
    if (!bc_options_parse(&run->options, line->count, line->words, look_up_variable, &error))
        complain(trial, "good values are refused: %s", error.text);
}

/* What format_values wrote, read again. */
static void visit_formatted(struct bc_run *run, void *context)
{
    struct trial *const trial = context;
    struct bc_error error = {""};
    char **const words = calloc(trial->count + 2, sizeof *words);
    char *const value = malloc(VALUE_BYTES);
    int count = 1;
    if (words == NULL || value == NULL)
        abort();
    words[0] = strdup("program");
    for (size_t i = 0; i < trial->count; i++) {
        if (trial->formatted[i] == NULL || !trial->given[i])
            continue;
        const size_t size =
            strlen(trial->formatted[i]) + strlen(run->options.rows[i].long_name) + 4;
        words[count] = malloc(size);
        if (words[count] == NULL)
            abort();
        (void)snprintf(words[count++], size, "--%s=%s", run->options.rows[i].long_name,
                       trial->formatted[i]);
    }
    if (!bc_options_parse(&run->options, count, words, no_variable, &error))
        complain(trial, "a value that was written can't be read: %s", error.text);
    for (size_t i = 0; i < trial->count; i++) {
        if (trial->formatted[i] == NULL || !trial->given[i])
            continue;
        bc_option_format(&run->options.rows[i], value, VALUE_BYTES);
        if (strcmp(value, trial->formatted[i]) != 0)
            complain(trial, "--%s was '%.100s' and is read back as '%.100s'",
                     run->options.rows[i].long_name, trial->formatted[i], value);
        judge_number(trial, &run->options.rows[i], i);
    }
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
    free(value);
}

bool judge(const struct program *program, const struct line *line, const struct job *job,
           enum outcome *outcome)
{
    struct trial trial = {.line = line, .job = job, .good = true};
    programs_visit(program, visit_line, &trial);
    *outcome = trial.outcome;
    if (line->expectation == VALUES_ARE_GOOD)
        programs_visit(program, visit_values, &trial);
    if (trial.outcome == ACCEPTED)
        programs_visit(program, visit_formatted, &trial);
    for (size_t i = 0; i < trial.count; i++)
        free(trial.formatted[i]);
    free(trial.formatted);
    free(trial.numbers);
    free(trial.given);
    return trial.good;
}

/* ---- help ------------------------------------------------------------------------------------ */

static void visit_help(struct bc_run *run, void *context)
{
    struct trial *const trial = context;
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    if (stream == NULL)
        abort();
    bc_run_help(stream, run);
    (void)fclose(stream);
    if (strlen(text) != size || mbstowcs(NULL, text, 0) == (size_t)-1)
        complain(trial, "the help is not text");
    for (size_t i = 0; i < run->options.count; i++)
        if (!names_option(text, &run->options.rows[i]) ||
            strstr(text, run->benchmark->summary) == NULL)
            complain(trial, "the help lacks --%s", run->options.rows[i].long_name);
    free(text);
}

bool judge_help(const struct program *program)
{
    struct trial trial = {.good = true};
    programs_visit(program, visit_help, &trial);
    return trial.good;
}
