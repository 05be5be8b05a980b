#include "common/run/options.h"

#include "common/run/parse.h"
#include "common/result/plain_text.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
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

/* What is known of a row beside its value. */
struct bc_option_state {
    enum bc_option_source source;
    const char *variable; /* the one that set it, with its length */
    size_t variable_length;
    char *owned; /* storage of a text that came by broadcast */
};

/* A row with its value and state. */
struct entry {
    const struct bc_option *option;
    void *value;
    struct bc_option_state *state;
};

static struct entry entry_at(const struct bc_options *options, size_t row)
{
    const struct bc_option_table *table = options->tables;
    size_t first = 0;
    while (row - first >= table->count) {
        first += table->count;
        table++;
    }
    const struct bc_option *const option = &table->rows[row - first];
    return (struct entry){option, (char *)table->values + option->at, &options->states[row]};
}

/* ---- names out of a list --------------------------------------------------------------------- */

/* The characters of an erroneous name that are shown. */
#define SHOWN_MAX 80

static bool does_not_count(char character)
{
    return character != '\0' && strchr(" -_", character) != NULL;
}

/* Whether the word of `length` characters is the name. */
static bool is_name(const char *word, size_t length, const char *name)
{
    size_t i = 0;
    for (;;) {
        while (i < length && does_not_count(word[i]))
            i++;
        while (does_not_count(*name))
            name++;
        if (i == length || *name == '\0')
            return i == length && *name == '\0';
        if (tolower((unsigned char)word[i++]) != tolower((unsigned char)*name++))
            return false;
    }
}

bool bc_names_choose(const char *given_to, struct bc_names *names, bc_name_fn *name_at, int count,
                     struct bc_error *error)
{
    memset(names->chosen, 0, sizeof names->chosen);
    for (const char *word = names->text;; word++) {
        const size_t length = strcspn(word, ",");
        const bool all = is_name(word, length, "all");
        bool known = all;
        for (int i = 0; i < count; i++)
            if (all || is_name(word, length, name_at(i)))
                names->chosen[i] = known = true;
        if (!known)
            return bc_error_set(error, "%s: '%.*s' is none: use all, or names such as %s,%s",
                                given_to, (int)(length < SHOWN_MAX ? length : SHOWN_MAX), word,
                                name_at(0), name_at(count - 1));
        word += length;
        if (*word == '\0')
            return true;
    }
}

/* ---- one option's value ---------------------------------------------------------------------- */

/* What a text is that an option of this kind can't take. */
static const char *kind_mismatch(enum bc_option_kind kind)
{
    switch (kind) {
    case BC_INTEGER:
        return "not a whole number";
    case BC_REAL:
        return "not a number";
    case BC_PERCENT:
        return "not a number in percent";
    case BC_SIZE:
        return "not a whole number (K, M or G may follow it)";
    case BC_SIZE_LIST:
        return "not a list of sizes (8,1K,1M), ranges (1:4M) or both";
    case BC_FLAG:
    case BC_CHOICE:
    case BC_NAMES:
    case BC_TEXT:
        break;
    }
    return "not a value";
}

static bool in_range(const struct bc_option *option, double value)
{
    return option->unbounded || (value >= option->min && value <= option->max);
}

/* Sets the error that `name` was given `text`: what is wrong, and what would do. */
static bool value_error(const struct bc_option *option, const char *name, const char *text,
                        const char *wrong, struct bc_error *error)
{
    const char *const word = option->word != NULL ? option->word : "";
    const char *const or = option->word != NULL ? " or " : "";
    char use[128] = "";
    if (option->range_hint != NULL)
        snprintf(use, sizeof use, ": use %s", option->range_hint);
    else if (option->kind == BC_CHOICE)
        snprintf(use, sizeof use, ": use one of %s", option->choices);
    else if (!option->unbounded)
        snprintf(use, sizeof use, ": use %s%s%.15g to %.15g", word, or, option->min, option->max);
    return bc_error_set(error, "%s: '%.80s' is %s%s", name, text, wrong, use);
}

static bool range_error(const struct bc_option *option, const char *name, const char *text,
                        struct bc_error *error)
{
    return value_error(option, name, text, "out of range", error);
}

/* The index of `text` in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    for (int index = 0;; index++) {
        const size_t word = strcspn(choices, "|");
        if (word == length && strncmp(choices, text, length) == 0)
            return index;
        if (choices[word] == '\0')
            return -1;
        choices += word + 1;
    }
}

static void choice_text(const char *choices, int index, char *text, size_t size)
{
    while (index-- > 0)
        choices += strcspn(choices, "|") + 1;
    snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

static bool is_whole(enum bc_option_kind kind)
{
    return kind == BC_INTEGER || kind == BC_SIZE;
}

static bool is_number(enum bc_option_kind kind)
{
    return is_whole(kind) || kind == BC_REAL || kind == BC_PERCENT;
}

static void store_number(const struct entry *entry, double real, int64_t whole)
{
    if (is_whole(entry->option->kind))
        *(int64_t *)entry->value = whole;
    else
        *(double *)entry->value = real;
}

static double number_of(const struct entry *entry)
{
    return is_whole(entry->option->kind) ? (double)*(int64_t *)entry->value
                                         : *(double *)entry->value;
}

static bool parse_number(enum bc_option_kind kind, const char *text, double *real, int64_t *whole)
{
    switch (kind) {
    case BC_INTEGER:
        return bc_parse_integer(text, whole);
    case BC_SIZE:
        return bc_parse_size(text, whole);
    case BC_PERCENT:
        return bc_parse_percent(text, real);
    default:
        return bc_parse_real(text, real);
    }
}

static bool set_number(const struct entry *entry, const char *name, const char *text, bool limited,
                       struct bc_error *error)
{
    const struct bc_option *const option = entry->option;
    double real = 0.0;
    int64_t whole = 0;
    if (option->word != NULL && strcmp(text, option->word) == 0) {
        store_number(entry, option->word_value, (int64_t)option->word_value);
        return true;
    }
    if (!parse_number(option->kind, text, &real, &whole))
        return value_error(option, name, text, kind_mismatch(option->kind), error);
    if (limited && !in_range(option, is_whole(option->kind) ? (double)whole : real))
        return range_error(option, name, text, error);
    store_number(entry, real, whole);
    return true;
}

static bool set_sizes(const struct entry *entry, const char *name, const char *text, bool limited,
                      struct bc_error *error)
{
    struct bc_size_list list = {0};
    if (!bc_parse_size_list(text, &list))
        return value_error(entry->option, name, text, kind_mismatch(BC_SIZE_LIST), error);
    for (size_t i = 0; limited && i < list.count; i++)
        if (!in_range(entry->option, (double)list.values[i])) {
            bc_size_list_free(&list);
            return range_error(entry->option, name, text, error);
        }
    bc_size_list_free(entry->value);
    *(struct bc_size_list *)entry->value = list;
    return true;
}

/* Takes `text` as the option's value. `name` is what the user wrote it to: the option or the
   variable. `text` is NULL for a flag without a value. */
static bool set_value(const struct entry *entry, const char *name, const char *text, bool limited,
                      struct bc_error *error)
{
    const struct bc_option *const option = entry->option;
    switch (option->kind) {
    case BC_FLAG:
        if (text == NULL)
            *(bool *)entry->value = true;
        else
            bc_parse_boolean(text, entry->value);
        return true;
    case BC_INTEGER:
    case BC_SIZE:
    case BC_REAL:
    case BC_PERCENT:
        return set_number(entry, name, text, limited, error);
    case BC_SIZE_LIST:
        return set_sizes(entry, name, text, limited, error);
    case BC_CHOICE: {
        const int index = choice_index(option->choices, text);
        if (index < 0)
            return value_error(option, name, text, "none of the choices", error);
        *(int *)entry->value = index;
        return true;
    }
    case BC_NAMES: {
        struct bc_names *const names = entry->value;
        names->text = text;
        return bc_names_choose(name, names, option->name_at, option->name_count, error);
    }
    case BC_TEXT:
        *(const char **)entry->value = text;
        return true;
    }
    return false;
}

/* ---- a value as text ------------------------------------------------------------------------- */

static void format_sizes(const struct bc_size_list *list, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && used + 24 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i > 0 ? "," : "",
                                 list->values[i]);
}

/* As people write it where that is exact, else to the last bit. */
static void format_real(double value, char *text, size_t size)
{
    double back;
    snprintf(text, size, "%.15g", value);
    if (!bc_parse_real(text, &back) || back != value)
        snprintf(text, size, "%.17g", value);
}

/* The value of an option that is a text; NULL if it has none. */
static const char *text_of(const struct entry *entry)
{
    return entry->option->kind == BC_NAMES ? ((struct bc_names *)entry->value)->text
                                           : *(const char **)entry->value;
}

static bool is_text(const struct entry *entry)
{
    return entry->option->kind == BC_TEXT || entry->option->kind == BC_NAMES;
}

static bool is_word(const struct entry *entry)
{
    return is_number(entry->option->kind) && entry->option->word != NULL &&
           number_of(entry) == entry->option->word_value;
}

/* Writes a value so that it can be read again. */
static void format_value(const struct entry *entry, char *text, size_t size)
{
    if (is_word(entry)) {
        snprintf(text, size, "%s", entry->option->word);
        return;
    }
    switch (entry->option->kind) {
    case BC_FLAG:
        snprintf(text, size, "%s", *(bool *)entry->value ? "yes" : "no");
        break;
    case BC_INTEGER:
    case BC_SIZE:
        snprintf(text, size, "%" PRId64, *(int64_t *)entry->value);
        break;
    case BC_REAL:
    case BC_PERCENT:
        format_real(*(double *)entry->value, text, size);
        break;
    case BC_SIZE_LIST:
        format_sizes(entry->value, text, size);
        break;
    case BC_CHOICE:
        choice_text(entry->option->choices, *(int *)entry->value, text, size);
        break;
    case BC_NAMES:
    case BC_TEXT:
        snprintf(text, size, "%s", text_of(entry) != NULL ? text_of(entry) : "");
        break;
    }
}

/* True for a 0 that has a name. */
static bool is_named_zero(const struct entry *entry)
{
    return entry->option->zero != NULL && number_of(entry) == 0.0;
}

/* The length of a value as text, or more. */
static size_t value_length(const struct entry *entry)
{
    if (is_named_zero(entry))
        return strlen(entry->option->zero);
    if (is_text(entry))
        return text_of(entry) != NULL ? strlen(text_of(entry)) : 0;
    if (entry->option->kind == BC_SIZE_LIST)
        return 24 * (((struct bc_size_list *)entry->value)->count + 1);
    return 128;
}

static void format_for_people(const struct entry *entry, char *text, size_t size)
{
    if (is_named_zero(entry))
        snprintf(text, size, "%s", entry->option->zero);
    else
        format_value(entry, text, size);
}

char *bc_options_text(const struct bc_options *options, size_t row)
{
    const struct entry entry = entry_at(options, row);
    const size_t size = value_length(&entry) + 1;
    char *const text = malloc(size);
    if (text != NULL)
        format_for_people(&entry, text, size);
    return text;
}

/* ---- the tables ------------------------------------------------------------------------------ */

bool bc_options_create(struct bc_options *options, const struct bc_option_table *tables, int count)
{
    *options = (struct bc_options){.table_count = count};
    memcpy(options->tables, tables, (size_t)count * sizeof *tables);
    options->states = calloc(bc_options_count(options), sizeof *options->states);
    if (options->states == NULL)
        return false;
    for (size_t row = 0; row < bc_options_count(options); row++) {
        const struct entry entry = entry_at(options, row);
        struct bc_error error;
        struct bc_size_list *const list = entry.option->kind == BC_SIZE_LIST ? entry.value : NULL;
        if (list != NULL && list->text != NULL && !bc_parse_size_list(list->text, list))
            return false;
        if (entry.option->kind == BC_NAMES &&
            !set_value(&entry, entry.option->long_name, text_of(&entry), false, &error))
            abort(); /* a default that the program itself made up */
    }
    return true;
}

void bc_options_free(struct bc_options *options)
{
    for (size_t row = 0; options->states != NULL && row < bc_options_count(options); row++) {
        const struct entry entry = entry_at(options, row);
        if (entry.option->kind == BC_SIZE_LIST)
            bc_size_list_free(entry.value);
        free(entry.state->owned);
    }
    free(options->states);
    options->states = NULL;
}

size_t bc_options_count(const struct bc_options *options)
{
    size_t count = 0;
    for (int i = 0; i < options->table_count; i++)
        count += options->tables[i].count;
    return count;
}

const struct bc_option *bc_options_row(const struct bc_options *options, size_t row)
{
    return entry_at(options, row).option;
}

enum bc_option_source bc_options_source(const struct bc_options *options, size_t row)
{
    return options->states[row].source;
}

const char *bc_options_variable(const struct bc_options *options, size_t row, size_t *length)
{
    const struct bc_option_state *const state = &options->states[row];
    *length = state->variable_length;
    return state->source == BC_FROM_ENVIRONMENT ? state->variable : NULL;
}

bool bc_option_given(const struct bc_options *options, const char *long_name)
{
    for (size_t row = 0; row < bc_options_count(options); row++)
        if (strcmp(bc_options_row(options, row)->long_name, long_name) == 0)
            return options->states[row].source != BC_FROM_DEFAULT;
    abort(); /* a name that the program itself made up */
}

/* ---- the environment ------------------------------------------------------------------------- */

static bool read_variables(const struct entry *entry, bc_lookup_fn *lookup, struct bc_error *error)
{
    const char *name = entry->option->variables;
    while (name != NULL && *name != '\0') {
        const size_t length = strcspn(name, " ");
        char variable[128];
        snprintf(variable, sizeof variable, "%.*s", (int)length, name);
        const char *const text = lookup(variable);
        if (text != NULL) {
            if (!set_value(entry, variable, text, true, error))
                return false;
            entry->state->source = BC_FROM_ENVIRONMENT;
            entry->state->variable = name;
            entry->state->variable_length = length;
            return true;
        }
        name += length + strspn(name + length, " ");
    }
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* getopt_long returns this plus the row for a long option. */
#define LONG_OPTION_BASE 1000

struct getopt_tables {
    struct option *long_options;
    char *short_options;
};

static bool make_getopt_tables(const struct bc_options *options, struct getopt_tables *tables)
{
    const size_t count = bc_options_count(options);
    /* Every row may have an alias; one more entry ends the table. A short option takes up to two
       characters after the leading "+:". */
    tables->long_options = calloc(2 * count + 1, sizeof *tables->long_options);
    tables->short_options = calloc(2 * count + 3, 1);
    if (tables->long_options == NULL || tables->short_options == NULL)
        return false;
    struct option *entry = tables->long_options;
    char *shorts = tables->short_options;
    *shorts++ = '+'; /* stop at the first word that is no option */
    *shorts++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t row = 0; row < count; row++) {
        const struct bc_option *const option = bc_options_row(options, row);
        const char *const names[] = {option->long_name, option->alias};
        for (int i = 0; i < 2; i++)
            if (names[i] != NULL)
                *entry++ = (struct option){
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
    return true;
}

/* The row that getopt_long found; the number of rows if it is none. */
static size_t find_row(const struct bc_options *options, int found)
{
    if (found >= LONG_OPTION_BASE)
        return (size_t)(found - LONG_OPTION_BASE);
    size_t row = 0;
    while (row < bc_options_count(options) &&
           (found == ':' || bc_options_row(options, row)->short_name != found))
        row++;
    return row;
}

static bool read_arguments(struct bc_options *options, const struct getopt_tables *tables, int argc,
                           char *const *argv, struct bc_error *error)
{
    optind = 0; /* glibc: start afresh, also in the middle of a word */
    opterr = 0;
    for (;;) {
        const int word = optind > 0 ? optind : 1;
        const int found =
            getopt_long(argc, argv, tables->short_options, tables->long_options, NULL);
        if (found == -1)
            break;
        /* The name without its value, for errors. */
        char name[96];
        const char *const given = word < argc ? argv[word] : "";
        snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
        if (found == '?')
            return bc_error_set(error, "%s: no such option (or several that start so): see --help",
                                name);
        const size_t row = find_row(options, found);
        if (row == bc_options_count(options))
            return bc_error_set(error, "%s: needs a value: see --help", name);
        const struct entry entry = entry_at(options, row);
        if (entry.option->short_name == found && given[1] != '-')
            snprintf(name, sizeof name, "-%c", entry.option->short_name);
        else
            snprintf(name, sizeof name, "--%s", entry.option->long_name);
        if (!set_value(&entry, name, optarg, true, error))
            return false;
        entry.state->source = BC_FROM_ARGUMENT;
    }
    if (optind < argc)
        return bc_error_set(error, "'%.80s': not an option: see --help", argv[optind]);
    return true;
}

bool bc_options_parse(struct bc_options *options, int argc, char *const *argv, bc_lookup_fn *lookup,
                      struct bc_error *error)
{
    for (size_t row = 0; row < bc_options_count(options); row++) {
        const struct entry entry = entry_at(options, row);
        if (!read_variables(&entry, lookup, error))
            return false;
    }
    struct getopt_tables tables;
    const bool good = make_getopt_tables(options, &tables)
                          ? read_arguments(options, &tables, argc, argv, error)
                          : bc_error_set(error, "no memory for the options");
    free(tables.long_options);
    free(tables.short_options);
    return good;
}

/* ---- help ------------------------------------------------------------------------------------ */

/* Prints a text indented, its lines broken between words. */
static void print_wrapped(FILE *stream, const char *text)
{
    enum { INDENT = 10, WIDTH = 78 };
    int column = INDENT - 1;
    fprintf(stream, "%*s", column, "");
    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");
        if (column + 1 + length > WIDTH) {
            fprintf(stream, "\n%*s", INDENT, "");
            column = INDENT;
        } else {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

/* The help of an option that takes names: with the list of them. */
static void print_names(FILE *stream, const struct bc_option *option)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "%s, with commas: ", option->help);
    for (int i = 0; i < option->name_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "",
                                 option->name_at(i));
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, "; or all. Case, spaces and dashes don't count");
    print_wrapped(stream, text);
}

static void print_option(FILE *stream, const struct entry *entry)
{
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
    if (option->kind == BC_NAMES)
        print_names(stream, option);
    else
        print_wrapped(stream, option->help);
    char value[256];
    format_for_people(entry, value, sizeof value);
    const bool says_nothing = option->kind == BC_FLAG ? !*(bool *)entry->value : value[0] == '\0';
    if (!says_nothing)
        fprintf(stream, "          default: %s\n", value);
    if (option->variables != NULL)
        fprintf(stream, "          environment: %s\n", option->variables);
}

void bc_options_help(FILE *stream, const struct bc_options *options)
{
    for (size_t row = 0; row < bc_options_count(options); row++) {
        const struct entry entry = entry_at(options, row);
        print_option(stream, &entry);
    }
}

/* ---- to other ranks -------------------------------------------------------------------------- */

/* A row is "LENGTH SOURCE MISSING VALUE": texts may hold anything, so the length of the value
   stands first; it is missing if it is a text that is NULL. */
#define ROW_FORMAT "%zu %d %d "

static bool is_missing(const struct entry *entry)
{
    return is_text(entry) && text_of(entry) == NULL;
}

char *bc_options_encode(const struct bc_options *options)
{
    const size_t count = bc_options_count(options);
    size_t size = 1;
    for (size_t row = 0; row < count; row++) {
        const struct entry entry = entry_at(options, row);
        size += value_length(&entry) + 64;
    }
    char *const text = malloc(size);
    char *const value = malloc(size);
    if (text == NULL || value == NULL) {
        free(text);
        free(value);
        return NULL;
    }
    size_t used = 0;
    text[0] = '\0';
    for (size_t row = 0; row < count; row++) {
        const struct entry entry = entry_at(options, row);
        format_value(&entry, value, size);
        used += (size_t)snprintf(text + used, size - used, ROW_FORMAT "%s", strlen(value),
                                 (int)entry.state->source, is_missing(&entry), value);
    }
    free(value);
    return text;
}

/* Takes a value as it was formatted, not as a user writes it: no limits apply, and an empty text
   or list is one. Frees `text` or keeps it as the storage of the value. */
static bool take_value(const struct entry *entry, char *text, bool missing)
{
    struct bc_error ignored;
    bool good = true;
    if (is_text(entry)) {
        free(entry->state->owned);
        entry->state->owned = text;
        if (entry->option->kind == BC_NAMES)
            return set_value(entry, entry->option->long_name, text, false, &ignored);
        *(const char **)entry->value = missing ? NULL : text;
        return true;
    }
    if (entry->option->kind == BC_SIZE_LIST && *text == '\0')
        bc_size_list_free(entry->value);
    else
        good = set_value(entry, entry->option->long_name, text, false, &ignored);
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
    for (size_t row = 0; row < bc_options_count(options); row++) {
        const struct entry entry = entry_at(options, row);
        unsigned long length, source, missing;
        if (!take_number(&text, SIZE_MAX / 2, &length) ||
            !take_number(&text, BC_FROM_ARGUMENT, &source) || !take_number(&text, 1, &missing) ||
            strlen(text) < length)
            return false;
        char *const value = malloc(length + 1);
        if (value == NULL)
            return false;
        memcpy(value, text, length);
        value[length] = '\0';
        text += length;
        if (!take_value(&entry, value, missing))
            return false;
        entry.state->source = (enum bc_option_source)source;
    }
    return *text == '\0';
}
