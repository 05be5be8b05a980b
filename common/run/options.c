/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/options.h"

#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/result/text.h"
#include "common/run/parse.h"
#include "common/run/option_table.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "no memory for the options"

/* ---- the tables ------------------------------------------------------------------------------ */

void bc_options_add(struct bc_options *options, struct bc_option_rows table, void *values)
{
    options->entries = bc_reallocate(options->entries, options->count + table.count,
                                     sizeof *options->entries, NO_MEMORY);
    for (size_t row = 0; row < table.count; row++) {
        const struct bc_option *const option = &table.rows[row];
        struct bc_option_entry *const entry = &options->entries[options->count++];
        *entry = (struct bc_option_entry){.option = option, .value = (char *)values + option->at};
        /* Some defaults are texts. */
        struct bc_error error;
        const char *const *const text = entry->value;
        if ((option->kind == BC_SIZE_LIST || option->kind == BC_NAMES) && *text != NULL &&
            !bc_value_set(entry, option->long_name, *text, false, &error))
            bc_abort("default of %s", error.text);
    }
}

void bc_options_free(struct bc_options *options)
{
    for (size_t row = 0; row < options->count; row++)
        if (options->entries[row].option->kind == BC_SIZE_LIST)
            bc_size_list_free(options->entries[row].value);
    free(options->entries);
    free(options->received);
    *options = (struct bc_options){0};
}

const struct bc_option_entry *bc_options_find(const struct bc_options *options,
                                              const char *long_name)
{
    for (size_t row = 0; row < options->count; row++)
        if (strcmp(options->entries[row].option->long_name, long_name) == 0)
            return &options->entries[row];
    return NULL;
}

bool bc_option_given(const struct bc_options *options, const char *long_name)
{
    const struct bc_option_entry *const entry = bc_options_find(options, long_name);
    if (entry == NULL)
        abort(); /* a name that the program itself misspelt */
    return entry->source != BC_FROM_DEFAULT;
}

/* ---- the environment ------------------------------------------------------------------------- */

static bool read_variables(struct bc_option_entry *entry, bc_lookup_fn *lookup,
                           struct bc_error *error)
{
    const char *name = entry->option->variables;
    while (name != NULL && *name != '\0') {
        const size_t length = strcspn(name, " ");
        snprintf(entry->variable, sizeof entry->variable, "%.*s", (int)length, name);
        const char *const text = lookup(entry->variable);
        if (text != NULL) {
            if (!bc_value_set(entry, entry->variable, text, true, error))
                return false;
            entry->source = BC_FROM_ENVIRONMENT;
            return true;
        }
        name += length + strspn(name + length, " ");
    }
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* For a long option getopt_long returns this plus the row. */
#define LONG_OPTION_BASE 1000

/* Fills in the tables for getopt_long. */
static void describe(const struct bc_options *options, struct option *longs, char *shorts)
{
    *shorts++ = '+'; /* stop at the first word that is no option */
    *shorts++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t row = 0; row < options->count; row++) {
        const struct bc_option *const option = options->entries[row].option;
        const char *const names[] = {option->long_name, option->alias};
        for (int i = 0; i < 2; i++)
            if (names[i] != NULL)
                *longs++ = (struct option){
                    .name = names[i],
                    .has_arg = option->kind == BC_FLAG ? optional_argument : required_argument,
                    .val = LONG_OPTION_BASE + (int)row,
                };
        if (option->short_name != 0) {
            *shorts++ = option->short_name;
            if (option->kind != BC_FLAG)
                *shorts++ = ':';
        }
    }
}

/* Returns the entry that getopt_long found, or NULL if it lacks its argument. */
static struct bc_option_entry *find_entry(const struct bc_options *options, int found)
{
    if (found >= LONG_OPTION_BASE)
        return &options->entries[found - LONG_OPTION_BASE];
    for (size_t row = 0; found != ':' && row < options->count; row++)
        if (options->entries[row].option->short_name == found)
            return &options->entries[row];
    return NULL;
}

/* Sets the error for a word that is no option: several options begin like it, or none does. */
static bool no_option(const struct option *longs, const char *word, struct bc_error *error)
{
    const char *const name = word + strspn(word, "-");
    const size_t length = strlen(name);
    const bool is_long = strncmp(word, "--", 2) == 0;
    const char *begun[2];
    int count = 0;
    for (const struct option *one = longs; is_long && one->name != NULL; one++)
        if (count < 2 && strncmp(one->name, name, length) == 0)
            begun[count++] = one->name;
    if (count == 2)
        return bc_error_set(
            error, "%s: several options begin like this, such as --%s and --%s: see --help", word,
            begun[0], begun[1]);
    return bc_error_set(error, "%s: no such option: see --help", word);
}

static bool read_arguments(struct bc_options *options, const struct option *longs,
                           const char *shorts, int argc, char *const *argv, struct bc_error *error)
{
    optind = 0; /* glibc: start afresh, also in the middle of a word */
    opterr = 0;
    for (;;) {
        const int word = optind > 0 ? optind : 1;
        /* The parentheses avoid SMPI's macro of this name, which continues the last reading. */
        const int found = (getopt_long)(argc, argv, shorts, longs, NULL);
        if (found == -1)
            break;
        /* The name without its value, for errors. */
        char name[96];
        const char *const given = word < argc ? argv[word] : "";
        snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
        if (found == '?')
            return no_option(longs, name, error);
        struct bc_option_entry *const entry = find_entry(options, found);
        if (entry == NULL)
            return bc_error_set(error, "%s: needs a value: see --help", name);
        if (entry->option->short_name == found && given[1] != '-')
            snprintf(name, sizeof name, "-%c", entry->option->short_name);
        else
            snprintf(name, sizeof name, "--%s", entry->option->long_name);
        if (!bc_value_set(entry, name, optarg, true, error))
            return false;
        entry->source = BC_FROM_ARGUMENT;
        entry->place = word;
    }
    if (optind < argc)
        return bc_error_set(error, "'%.80s': not an option: see --help", argv[optind]);
    return true;
}

bool bc_options_parse(struct bc_options *options, int argc, char *const *argv, bc_lookup_fn *lookup,
                      struct bc_error *error)
{
    for (size_t row = 0; row < options->count; row++)
        if (!read_variables(&options->entries[row], lookup, error))
            return false;
    /* Every row may have an alias; one more entry ends the table. Short options begin with "+:". */
    const size_t max = 2 * options->count;
    struct option *const longs = bc_allocate(max + 1, sizeof *longs, NO_MEMORY);
    char *const shorts = bc_allocate(max + 3, 1, NO_MEMORY);
    describe(options, longs, shorts);
    const bool good = read_arguments(options, longs, shorts, argc, argv, error);
    free(longs);
    free(shorts);
    return good;
}

/* ---- help ------------------------------------------------------------------------------------ */

static void print_option(FILE *stream, const struct bc_option_entry *entry)
{
    enum { INDENT = 10, WIDTH = 78 };
    const struct bc_option *const option = entry->option;
    if (option->short_name != 0)
        fprintf(stream, "  -%c, ", option->short_name);
    else
        fputs("      ", stream);
    fprintf(stream, "--%s", option->long_name);
    if (option->kind == BC_CHOICE)
        fprintf(stream, "=%s", option->choices);
    else if (option->kind != BC_FLAG)
        fprintf(stream, "=%s%s%s", option->word != NULL ? option->word : "",
                option->word != NULL ? "|" : "", option->argument);
    if (option->alias != NULL)
        fprintf(stream, ", --%s", option->alias);
    fputc('\n', stream);
    struct bc_text help = {0};
    bc_text_append(&help, "%s", option->help);
    if (option->kind == BC_NAMES) {
        bc_text_append(&help, ", with commas: ");
        bc_append_names(&help, option->name_at, option->name_count, ", ");
        bc_text_append(&help, ", or all");
    }
    fprintf(stream, "%*s", INDENT, "");
    bc_print_wrapped(stream, help.start, INDENT, WIDTH, "          ");
    free(help.start);
    char *const value = bc_option_text(entry, true);
    if (option->kind == BC_FLAG ? *(bool *)entry->value : *value != '\0')
        fprintf(stream, "          default: %s\n", value);
    free(value);
    if (option->variables != NULL)
        fprintf(stream, "          environment: %s\n", option->variables);
}

void bc_options_help(FILE *stream, const struct bc_options *options, size_t own)
{
    for (size_t row = 0; row < options->count; row++) {
        if (row == 0 && own > 0)
            fputs("\nOptions:\n", stream);
        if (row == own)
            fputs("\nOptions of all benchmarks:\n", stream);
        print_option(stream, &options->entries[row]);
    }
}

/* ---- to other ranks -------------------------------------------------------------------------- */

/* A row is a digit for the value's source, the value, and '\0'; a text that is NULL has this in
   place of the digit. */
#define MISSING '-'

struct bc_text bc_options_encode(const struct bc_options *options)
{
    struct bc_text text = {0};
    for (size_t row = 0; row < options->count; row++) {
        const struct bc_option_entry *const entry = &options->entries[row];
        const bool missing =
            entry->option->kind == BC_TEXT && *(const char *const *)entry->value == NULL;
        char *const value = bc_option_text(entry, false);
        bc_text_append(&text, "%c%s%c", missing ? MISSING : '0' + (int)entry->source, value, '\0');
        free(value);
    }
    return text;
}

bool bc_options_decode(struct bc_options *options, char *text, size_t length)
{
    const char *const end = text + length;
    size_t row = 0;
    free(options->received);
    options->received = text;
    for (; row < options->count && text < end; row++, text += strlen(text) + 1) {
        struct bc_option_entry *const entry = &options->entries[row];
        const char source = *text++;
        const char *const value = source != MISSING ? text : NULL;
        struct bc_error ignored;
        entry->source = value != NULL ? (enum bc_option_source)(source - '0') : BC_FROM_DEFAULT;
        /* No limits, since no user wrote it. */
        if ((value == NULL && entry->option->kind != BC_TEXT) ||
            !bc_value_set(entry, entry->option->long_name, value, false, &ignored))
            return false;
    }
    return row == options->count && text == end;
}
