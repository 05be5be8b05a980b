/*
 * Thousands of command lines and environments (lines.py) against the options and the checks of
 * every program: see judge.h for what must be true.
 *
 * usage: bad_lines --options   prints each program's name, the number of its options, and what
 *                              read_options of lines.py wants to know of these; and an empty field
 *        bad_lines             judges the lines on stdin: of each the program, what is expected of
 *                              it, the culprit, the number of words, the words, the number of
 *                              variables, and these with their values
 *
 * Each field ends with a byte of 0.
 */
#include "judge.h"
#include "programs.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcome_names[OUTCOMES] = {"accepted", "answered", "refused"};
static const char *const expectation_names[] = {"anything", "good", "option", "line"};
static const char *const kind_names[] = {"flag", "integer", "real",  "percent", "size",
                                         "list", "choice",  "names", "text"};

/* ---- options --------------------------------------------------------------------------------- */

static void print_field(const char *text)
{
    (void)fwrite(text != NULL ? text : "", 1, text != NULL ? strlen(text) + 1 : 1, stdout);
}

static void print_option(const struct bc_option_entry *entry)
{
    const struct bc_option *const option = entry->option;
    char words[1024] = "", number[64];
    for (int i = 0; i < option->name_count; i++)
        (void)snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s",
                       i > 0 ? "|" : "", option->name_at(i));
    print_field(option->long_name);
    print_field(kind_names[option->kind]);
    print_field((const char[]){option->short_name, '\0'});
    print_field(option->alias);
    print_field(option->help);
    print_field(option->word);
    print_field(option->kind == BC_TEXT ? *(const char *const *)entry->value : NULL);
    print_field(option->variables);
    print_field(option->kind == BC_CHOICE ? option->choices : words);
    (void)snprintf(number, sizeof number, "%.17g", option->min);
    print_field(number);
    (void)snprintf(number, sizeof number, "%.17g", option->max);
    print_field(number);
}

static void print_options(void)
{
    for (size_t p = 0; p < programs_count; p++) {
        struct bc_run run;
        char count[16];
        program_prepare(&run, programs[p]);
        (void)snprintf(count, sizeof count, "%zu", run.options.count);
        print_field(programs[p]->name);
        print_field(count);
        for (size_t i = 0; i < run.options.count; i++)
            print_option(&run.options.entries[i]);
        program_release(&run);
    }
    print_field(NULL);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The next field of stdin; NULL at the end. Freed by the caller. */
static char *read_field(void)
{
    char *field = NULL;
    size_t size = 0;
    if (getdelim(&field, &size, '\0', stdin) >= 0)
        return field;
    free(field);
    return NULL;
}

static size_t read_count(size_t max)
{
    char *const field = read_field();
    const size_t count = field != NULL ? strtoul(field, NULL, 10) : max + 1;
    free(field);
    if (count > max)
        abort();
    return count;
}

static const struct bc_program *program_with(const char *name)
{
    for (size_t i = 0; i < programs_count; i++)
        if (strcmp(programs[i]->name, name) == 0)
            return programs[i];
    abort();
}

/* Reads a line; NULL, or the line's program. */
static const struct bc_program *read_line(struct line *line)
{
    char *const name = read_field(), *const expectation = name != NULL ? read_field() : NULL;
    if (expectation == NULL)
        return NULL;
    const struct bc_program *const program = program_with(name);
    char *const culprit = read_field();
    *line = (struct line){.words = {name}, .count = 1};
    while (strcmp(expectation, expectation_names[line->expectation]) != 0)
        line->expectation++;
    (void)snprintf(line->culprit, sizeof line->culprit, "%s", culprit);
    free(culprit);
    free(expectation);
    for (size_t left = read_count(WORDS_MAX - 1); left > 0; left--)
        line->words[line->count++] = read_field();
    for (size_t left = read_count(VARIABLES_MAX); left > 0; left--) {
        line->variables[line->variable_count].name = read_field();
        line->variables[line->variable_count++].value = read_field();
    }
    return program;
}

static void free_line(struct line *line)
{
    for (int i = 0; i < line->count; i++)
        free(line->words[i]);
    for (size_t i = 0; i < line->variable_count; i++) {
        free(line->variables[i].name);
        free(line->variables[i].value);
    }
}

/* Prints the numbers of wrong lines, and what became of all; returns how many were wrong. */
static size_t judge_lines(void)
{
    size_t wrong = 0, outcomes[OUTCOMES] = {0};
    uint64_t number = 0;
    struct line line;
    for (const struct bc_program *program; (program = read_line(&line)) != NULL; number++) {
        enum outcome outcome;
        const struct job job = job_with(number);
        if (!judge(program, &line, &job, &outcome)) {
            (void)printf("wrong: %" PRIu64 ", %s, %d ranks\n", number, program->name, job.ranks);
            wrong++;
        }
        outcomes[outcome]++;
        free_line(&line);
    }
    (void)printf("%" PRIu64 " lines of %zu programs:", number, programs_count);
    for (int i = 0; i < OUTCOMES; i++)
        (void)printf(" %zu %s,", outcomes[i], outcome_names[i]);
    (void)printf(" %zu wrong\n", wrong);
    /* A generator that makes but one kind of line shows nothing. */
    for (int i = 0; i < OUTCOMES; i++)
        if (number >= 1000 && outcomes[i] == 0) {
            (void)fprintf(stderr, "no line was %s\n", outcome_names[i]);
            wrong++;
        }
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--options") == 0) {
        print_options();
        return 0;
    }
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        (void)fputs("no locale C.UTF-8\n", stderr);
        return 2;
    }
    return judge_lines() > 0;
}
