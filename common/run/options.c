#include "common/run/options.h"

#include "common/run/parse.h"
#include "common/result/plain_text.h"

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
    case BC_TEXT:
        break;
    }
    return "not a value";
}

static bool in_range(const struct bc_option *option, double value)
{
    return option->unbounded || (value >= option->min && value <= option->max);
}

/* Sets the error that `name` was given `text`: what is wrong, what would do. */
static bool value_error(const struct bc_option *option, const char *name, const char *text,
                        const char *wrong, struct bc_error *error)
{
    char use[128] = "";
    if (option->range_hint != NULL)
        snprintf(use, sizeof use, ": use %s", option->range_hint);
    else if (option->kind == BC_CHOICE)
        snprintf(use, sizeof use, ": use one of %s", option->choices);
    else if (!option->unbounded)
        snprintf(use, sizeof use, ": use %.15g to %.15g", option->min, option->max);
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

/* Takes `text` as the option's value. `name` is what the user wrote it to: the
   option or the variable. */
static bool set_value(struct bc_option *option, const char *name, const char *text,
                      struct bc_error *error)
{
    int64_t whole;
    double real;
    switch (option->kind) {
    case BC_FLAG:
        /* --name without a value. */
        if (text == NULL)
            *(bool *)option->value = true;
        else
            bc_parse_boolean(text, option->value);
        return true;
    case BC_INTEGER:
    case BC_SIZE:
        if (!(option->kind == BC_SIZE ? bc_parse_size(text, &whole)
                                      : bc_parse_integer(text, &whole)))
            break;
        if (!in_range(option, (double)whole))
            return range_error(option, name, text, error);
        *(int64_t *)option->value = whole;
        return true;
    case BC_REAL:
    case BC_PERCENT:
        if (!(option->kind == BC_PERCENT ? bc_parse_percent(text, &real)
                                         : bc_parse_real(text, &real)))
            break;
        if (!in_range(option, real))
            return range_error(option, name, text, error);
        *(double *)option->value = real;
        return true;
    case BC_SIZE_LIST: {
        struct bc_size_list list = {0};
        if (!bc_parse_size_list(text, &list))
            break;
        for (size_t i = 0; i < list.count; i++)
            if (!in_range(option, (double)list.values[i])) {
                bc_size_list_free(&list);
                return range_error(option, name, text, error);
            }
        bc_size_list_free(option->value);
        *(struct bc_size_list *)option->value = list;
        return true;
    }
    case BC_CHOICE: {
        const int index = choice_index(option->choices, text);
        if (index < 0)
            return value_error(option, name, text, "none of the choices", error);
        *(int *)option->value = index;
        return true;
    }
    case BC_TEXT:
        *(const char **)option->value = text;
        return true;
    }
    return value_error(option, name, text, kind_mismatch(option->kind), error);
}

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

/* Writes a value so that it can be read again. */
static void format_value(const struct bc_option *option, char *text, size_t size)
{
    switch (option->kind) {
    case BC_FLAG:
        snprintf(text, size, "%s", *(bool *)option->value ? "yes" : "no");
        break;
    case BC_INTEGER:
    case BC_SIZE:
        snprintf(text, size, "%" PRId64, *(int64_t *)option->value);
        break;
    case BC_REAL:
    case BC_PERCENT:
        format_real(*(double *)option->value, text, size);
        break;
    case BC_SIZE_LIST:
        format_sizes(option->value, text, size);
        break;
    case BC_CHOICE:
        choice_text(option->choices, *(int *)option->value, text, size);
        break;
    case BC_TEXT: {
        const char *const value = *(const char **)option->value;
        snprintf(text, size, "%s", value != NULL ? value : "");
        break;
    }
    }
}

/* True for a 0 that has a name. */
static bool is_named_zero(const struct bc_option *option)
{
    if (option->zero == NULL)
        return false;
    return option->kind == BC_REAL || option->kind == BC_PERCENT ? *(double *)option->value == 0.0
                                                                 : *(int64_t *)option->value == 0;
}

/* Of a value as text, or more. */
static size_t value_length(const struct bc_option *option)
{
    if (is_named_zero(option))
        return strlen(option->zero);
    if (option->kind == BC_TEXT) {
        const char *const value = *(const char **)option->value;
        return value != NULL ? strlen(value) : 0;
    }
    if (option->kind == BC_SIZE_LIST)
        return 24 * (((struct bc_size_list *)option->value)->count + 1);
    return 128;
}

void bc_option_format(const struct bc_option *option, char *text, size_t size)
{
    if (is_named_zero(option))
        snprintf(text, size, "%s", option->zero);
    else
        format_value(option, text, size);
}

char *bc_option_text(const struct bc_option *option)
{
    const size_t size = value_length(option) + 1;
    char *const text = malloc(size);
    if (text != NULL)
        bc_option_format(option, text, size);
    return text;
}

/* ---- the environment ------------------------------------------------------------------------- */

static bool read_variables(struct bc_option *option, bc_lookup_fn *lookup, struct bc_error *error)
{
    const char *name = option->variables;
    while (name != NULL && *name != '\0') {
        const size_t length = strcspn(name, " ");
        char variable[128];
        snprintf(variable, sizeof variable, "%.*s", (int)length, name);
        const char *const text = lookup(variable);
        if (text != NULL) {
            if (!set_value(option, variable, text, error))
                return false;
            option->source = BC_FROM_ENVIRONMENT;
            option->variable = name;
            option->variable_length = length;
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
    /* Every row may have an alias; one more entry ends the table. A short
       option takes up to two characters after the leading "+:". */
    tables->long_options = calloc(2 * options->count + 1, sizeof *tables->long_options);
    tables->short_options = calloc(2 * options->count + 3, 1);
    if (tables->long_options == NULL || tables->short_options == NULL)
        return false;
    struct option *entry = tables->long_options;
    char *shorts = tables->short_options;
    *shorts++ = '+'; /* stop at the first word that is no option */
    *shorts++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t row = 0; row < options->count; row++) {
        const struct bc_option *const option = &options->rows[row];
        const char *const names[] = {option->long_name, option->alias};
        for (int i = 0; i < 2; i++) {
            if (names[i] == NULL)
                continue;
            *entry++ = (struct option){
                .name = names[i],
                .has_arg = option->kind == BC_FLAG ? optional_argument : required_argument,
                .val = LONG_OPTION_BASE + (int)row,
            };
        }
        if (option->short_name != 0) {
            *shorts++ = option->short_name;
            if (option->kind != BC_FLAG)
                *shorts++ = ':';
        }
    }
    return true;
}

static struct bc_option *find_short(const struct bc_options *options, int name)
{
    for (size_t row = 0; row < options->count; row++)
        if (options->rows[row].short_name == name)
            return &options->rows[row];
    return NULL;
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
            return bc_error_set(error,
                                "%s: no such option (or several that "
                                "start so): see --help",
                                name);
        struct bc_option *const option = found >= LONG_OPTION_BASE
                                             ? &options->rows[found - LONG_OPTION_BASE]
                                         : found == ':' ? NULL
                                                        : find_short(options, found);
        if (option == NULL)
            return bc_error_set(error, "%s: needs a value: see --help", name);
        if (option->short_name == found && given[1] != '-')
            snprintf(name, sizeof name, "-%c", option->short_name);
        else
            snprintf(name, sizeof name, "--%s", option->long_name);
        if (!set_value(option, name, optarg, error))
            return false;
        option->source = BC_FROM_ARGUMENT;
    }
    if (optind < argc)
        return bc_error_set(error, "'%.80s': not an option: see --help", argv[optind]);
    return true;
}

bool bc_options_parse(struct bc_options *options, int argc, char *const *argv, bc_lookup_fn *lookup,
                      struct bc_error *error)
{
    for (size_t row = 0; row < options->count; row++)
        if (!read_variables(&options->rows[row], lookup, error))
            return false;
    struct getopt_tables tables;
    const bool good = make_getopt_tables(options, &tables)
                          ? read_arguments(options, &tables, argc, argv, error)
                          : bc_error_set(error, "no memory for the options");
    free(tables.long_options);
    free(tables.short_options);
    return good;
}

/* ---- looking at a table ---------------------------------------------------------------------- */

const struct bc_option *bc_options_find(const struct bc_options *options, const char *long_name)
{
    for (size_t row = 0; row < options->count; row++)
        if (strcmp(options->rows[row].long_name, long_name) == 0)
            return &options->rows[row];
    abort(); /* a name that the program itself made up */
}

bool bc_option_given(const struct bc_options *options, const char *long_name)
{
    return bc_options_find(options, long_name)->source != BC_FROM_DEFAULT;
}

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

static void print_option(FILE *stream, const struct bc_option *option)
{
    if (option->short_name != 0)
        fprintf(stream, "  -%c, ", option->short_name);
    else
        fputs("      ", stream);
    fprintf(stream, "--%s", option->long_name);
    if (option->kind == BC_CHOICE)
        fprintf(stream, "=%s", option->choices);
    else if (option->kind != BC_FLAG)
        fprintf(stream, "=%s", option->argument);
    if (option->alias != NULL)
        fprintf(stream, ", --%s", option->alias);
    fputc('\n', stream);
    print_wrapped(stream, option->help);
    char value[256];
    bc_option_format(option, value, sizeof value);
    const bool says_nothing = option->kind == BC_FLAG ? !*(bool *)option->value : value[0] == '\0';
    if (!says_nothing)
        fprintf(stream, "          default: %s\n", value);
    if (option->variables != NULL)
        fprintf(stream, "          environment: %s\n", option->variables);
}

void bc_options_help(FILE *stream, const struct bc_options *options)
{
    for (size_t row = 0; row < options->count; row++)
        print_option(stream, &options->rows[row]);
}

/* ---- to other ranks -------------------------------------------------------------------------- */

/* A row is "LENGTH SOURCE MISSING VALUE": texts may hold anything, so the length
   of the value stands first; it is missing if it is a text that is NULL. */
#define ROW_FORMAT "%zu %d %d "

static bool is_missing(const struct bc_option *option)
{
    return option->kind == BC_TEXT && *(const char **)option->value == NULL;
}

char *bc_options_encode(const struct bc_options *options)
{
    size_t size = 1;
    for (size_t row = 0; row < options->count; row++)
        size += value_length(&options->rows[row]) + 64;
    char *const text = malloc(size);
    char *const value = malloc(size);
    if (text == NULL || value == NULL) {
        free(text);
        free(value);
        return NULL;
    }
    size_t used = 0;
    text[0] = '\0';
    for (size_t row = 0; row < options->count; row++) {
        const struct bc_option *const option = &options->rows[row];
        format_value(option, value, size);
        used += (size_t)snprintf(text + used, size - used, ROW_FORMAT "%s", strlen(value),
                                 (int)option->source, is_missing(option), value);
    }
    free(value);
    return text;
}

/* Takes a value as it was formatted, not as a user writes it: no limits apply,
   and an empty text or list is one. `text` becomes the table's. */
static bool take_value(struct bc_option *option, char *text, bool missing)
{
    if (option->kind == BC_TEXT) {
        free(option->owned);
        option->owned = text;
        *(const char **)option->value = missing ? NULL : text;
        return true;
    }
    struct bc_option unlimited = *option;
    struct bc_error ignored;
    unlimited.unbounded = true;
    bool good = true;
    if (option->kind == BC_SIZE_LIST && *text == '\0')
        bc_size_list_free(option->value);
    else
        good = set_value(&unlimited, option->long_name, text, &ignored);
    free(text);
    return good;
}

/* A number from 0 to `max` and the space behind it, from *text, which is moved
   on. */
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
        struct bc_option *const option = &options->rows[row];
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
        if (!take_value(option, value, missing))
            return false;
        option->source = (enum bc_option_source)source;
    }
    return *text == '\0';
}

void bc_options_free(struct bc_options *options)
{
    for (size_t row = 0; row < options->count; row++) {
        struct bc_option *const option = &options->rows[row];
        if (option->kind == BC_SIZE_LIST)
            bc_size_list_free(option->value);
        free(option->owned);
        option->owned = NULL;
    }
}
