#include "common/run/options.h"

#include "common/run/option_values.h"
#include "common/run/parse.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool bc_error_set(struct bc_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    /* A value that the user gave may hold anything, and may have been cut. */
    bc_make_plain_text(error->text, '?');
    return false;
}

/* ---- the tables ------------------------------------------------------------------------------ */

bool bc_options_create(struct bc_options *options, const struct bc_option_table *tables, int count)
{
    size_t rows = 0;
    for (int i = 0; i < count; i++)
        rows += tables[i].count;
    *options = (struct bc_options){.entries = calloc(rows, sizeof *options->entries)};
    if (options->entries == NULL)
        return false;
    for (int i = 0; i < count; i++)
        for (size_t row = 0; row < tables[i].count; row++) {
            const struct bc_option *const option = &tables[i].rows[row];
            struct bc_option_entry *const entry = &options->entries[options->count++];
            entry->option = option;
            entry->value = (char *)tables[i].values + option->at;
            /* Some defaults are texts. */
            const char *text = NULL;
            struct bc_error ignored;
            if (option->kind == BC_SIZE_LIST)
                text = ((struct bc_size_list *)entry->value)->text;
            else if (option->kind == BC_NAMES)
                text = bc_option_text_of(entry);
            if (text == NULL || bc_option_set(entry, option->long_name, text, false, &ignored))
                continue;
            if (option->kind == BC_NAMES)
                abort(); /* a default that the program itself made up */
            return false;
        }
    return true;
}

void bc_options_free(struct bc_options *options)
{
    for (size_t row = 0; row < options->count; row++) {
        if (options->entries[row].option->kind == BC_SIZE_LIST)
            bc_size_list_free(options->entries[row].value);
        free(options->entries[row].owned);
    }
    free(options->entries);
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
        abort(); /* a name that the program itself made up */
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
            if (!bc_option_set(entry, entry->variable, text, true, error))
                return false;
            entry->source = BC_FROM_ENVIRONMENT;
            return true;
        }
        name += length + strspn(name + length, " ");
    }
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* getopt_long returns this plus the row for a long option. */
#define LONG_OPTION_BASE 1000

/* Fills in what getopt_long wants to know. */
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

/* The entry that getopt_long found; NULL if it lacks its argument. */
static struct bc_option_entry *find_entry(const struct bc_options *options, int found)
{
    if (found >= LONG_OPTION_BASE)
        return &options->entries[found - LONG_OPTION_BASE];
    for (size_t row = 0; found != ':' && row < options->count; row++)
        if (options->entries[row].option->short_name == found)
            return &options->entries[row];
    return NULL;
}

static bool read_arguments(struct bc_options *options, const struct option *longs,
                           const char *shorts, int argc, char *const *argv, struct bc_error *error)
{
    optind = 0; /* glibc: start afresh, also in the middle of a word */
    opterr = 0;
    for (;;) {
        const int word = optind > 0 ? optind : 1;
        const int found = getopt_long(argc, argv, shorts, longs, NULL);
        if (found == -1)
            break;
        /* The name without its value, for errors. */
        char name[96];
        const char *const given = word < argc ? argv[word] : "";
        snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
        if (found == '?')
            return bc_error_set(error, "%s: no such option (or several that start so): see --help",
                                name);
        struct bc_option_entry *const entry = find_entry(options, found);
        if (entry == NULL)
            return bc_error_set(error, "%s: needs a value: see --help", name);
        if (entry->option->short_name == found && given[1] != '-')
            snprintf(name, sizeof name, "-%c", entry->option->short_name);
        else
            snprintf(name, sizeof name, "--%s", entry->option->long_name);
        if (!bc_option_set(entry, name, optarg, true, error))
            return false;
        entry->source = BC_FROM_ARGUMENT;
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
    struct option *const longs = calloc(2 * options->count + 1, sizeof *longs);
    char *const shorts = calloc(2 * options->count + 3, 1);
    bool good = longs != NULL && shorts != NULL;
    if (good) {
        describe(options, longs, shorts);
        good = read_arguments(options, longs, shorts, argc, argv, error);
    } else {
        bc_error_set(error, "no memory for the options");
    }
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
    for (int i = 0; i < option->name_count; i++)
        if (!bc_name_is_listed_before(option->name_at, i))
            bc_text_append(&help, "%s%s", i > 0 ? ", " : ", with commas: ", option->name_at(i));
    if (option->kind == BC_NAMES)
        bc_text_append(&help, "; or all. Case, spaces and dashes don't count");
    fprintf(stream, "%*s", INDENT, "");
    bc_print_wrapped(stream, help.start, INDENT, WIDTH, "          ");
    free(help.start);
    const struct bc_text value = bc_option_value_text(entry, true);
    if (option->kind == BC_FLAG ? *(bool *)entry->value : value.length > 0)
        fprintf(stream, "          default: %s\n", value.start);
    free(value.start);
    if (option->variables != NULL)
        fprintf(stream, "          environment: %s\n", option->variables);
}

void bc_options_help(FILE *stream, const struct bc_options *options)
{
    for (size_t row = 0; row < options->count; row++)
        print_option(stream, &options->entries[row]);
}

/* ---- to other ranks -------------------------------------------------------------------------- */

/* A row is "LENGTH SOURCE MISSING VALUE": texts may hold anything, so the length of the value
   stands first; it is missing if it is a text that is NULL. */
char *bc_options_encode(const struct bc_options *options)
{
    struct bc_text text = {0};
    for (size_t row = 0; row < options->count; row++) {
        const struct bc_option_entry *const entry = &options->entries[row];
        const struct bc_text value = bc_option_value_text(entry, false);
        bc_text_append(&text, "%zu %d %d %s", value.length, (int)entry->source,
                       bc_option_is_text(entry) && bc_option_text_of(entry) == NULL, value.start);
        free(value.start);
    }
    return text.start;
}

/* Takes a value as it was encoded, not as a user writes it: no limits apply, and an empty text or
   list is one. Frees `text` or keeps it as the storage of the value. */
static bool take_value(struct bc_option_entry *entry, char *text, bool missing)
{
    struct bc_error ignored;
    bool good = true;
    if (bc_option_is_text(entry)) {
        free(entry->owned);
        entry->owned = text;
        if (missing && entry->option->kind == BC_TEXT)
            text = NULL;
        return bc_option_set(entry, entry->option->long_name, text, false, &ignored);
    }
    if (entry->option->kind == BC_SIZE_LIST && *text == '\0')
        bc_size_list_free(entry->value);
    else
        good = bc_option_set(entry, entry->option->long_name, text, false, &ignored);
    free(text);
    return good;
}

/* A number from 0 to `max` and the space behind it, from *text, which is moved on. */
static bool take_number(const char **text, unsigned long max, unsigned long *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtoul(*text, &end, 10);
    if (*end != ' ' || *number > max)
        return false;
    *text = end + 1;
    return true;
}

bool bc_options_decode(struct bc_options *options, const char *text)
{
    for (size_t row = 0; row < options->count; row++) {
        struct bc_option_entry *const entry = &options->entries[row];
        unsigned long length, source, missing;
        if (!take_number(&text, SIZE_MAX / 2, &length) ||
            !take_number(&text, BC_FROM_ARGUMENT, &source) || !take_number(&text, 1, &missing) ||
            strlen(text) < length)
            return false;
        char *const value = strndup(text, length);
        text += length;
        if (value == NULL || !take_value(entry, value, missing))
            return false;
        entry->source = (enum bc_option_source)source;
    }
    return *text == '\0';
}
