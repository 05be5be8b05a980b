#include "common/run/options.h"

#include "common/mpi/mpi_check.h"
#include "common/result/text.h"
#include "common/run/closest.h"
#include "common/run/parse.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "no memory for the options"

/* The characters of an erroneous name that are shown. */
#define SHOWN_MAX 80

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

/* ---- names out of a list --------------------------------------------------------------------- */

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

/* Appends the names, each once, with `separator` in between. Returns how many they are. */
static int append_names(struct bc_text *text, bc_name_fn *name_at, int count, const char *separator)
{
    int names = 0;
    for (int i = 0; i < count; i++) {
        int first = 0;
        while (strcmp(name_at(first), name_at(i)) != 0)
            first++;
        if (first == i)
            bc_text_append(text, "%s%s", names++ > 0 ? separator : "", name_at(i));
    }
    return names;
}

/* Sets the error that a word is none of the names. It has the one that was meant, or lists all if
 * they are few. */
static bool name_error(const char *given_to, const char *word, size_t length, bc_name_fn *name_at,
                       int count, struct bc_error *error)
{
    enum { LISTED_MAX = 8 };
    const int shown = (int)(length < SHOWN_MAX ? length : SHOWN_MAX);
    struct bc_closest closest = {.word = word, .length = length};
    for (int i = 0; i < count; i++)
        bc_closest_try(&closest, name_at(i));
    if (closest.name != NULL)
        return bc_error_set(error, "%s: unknown name '%.*s': did you mean '%s'? --help lists all",
                            given_to, shown, word, closest.name);
    struct bc_text use = {0};
    const bool few = append_names(&use, name_at, count, ",") <= LISTED_MAX;
    bc_error_set(error, "%s: unknown name '%.*s': use all, or %s%s%s%s", given_to, shown, word,
                 few ? "some of " : "names such as ", few ? use.start : name_at(0), few ? "" : ",",
                 few ? "" : name_at(count - 1));
    free(use.start);
    return false;
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
            return name_error(given_to, word, length, name_at, count, error);
        word += length;
        if (*word == '\0')
            return true;
    }
}

/* ---- a value from a text --------------------------------------------------------------------- */

static bool is_whole(enum bc_option_kind kind) { return kind == BC_INTEGER || kind == BC_SIZE; }

static bool is_number(enum bc_option_kind kind)
{
    return is_whole(kind) || kind == BC_REAL || kind == BC_PERCENT;
}

static bool is_text(enum bc_option_kind kind) { return kind == BC_TEXT || kind == BC_NAMES; }

/* The text that begins the value: of texts, names, and a default list of sizes. */
static const char *text_of(const struct bc_option_entry *entry)
{
    return *(const char **)entry->value;
}

static bool in_range(const struct bc_option *option, double value)
{
    return value >= option->min && value <= option->max;
}

static const char out_of_range[] = "out of range";

/* What a text is that an option of a kind can't take. */
static const char *const mismatches[] = {
    [BC_INTEGER] = "not a whole number",
    [BC_REAL] = "not a number",
    [BC_PERCENT] = "not a number in percent",
    [BC_SIZE] = "not a whole number (K, M or G may follow it)",
    [BC_SIZE_LIST] = "not a list of sizes (8,1K,1M), ranges (1:4M) or both",
    [BC_CHOICE] = "none of the choices",
};

/* Sets the error that `name` was given `text`: what is wrong, and what would do. */
static bool value_error(const struct bc_option *option, const char *name, const char *text,
                        const char *wrong, struct bc_error *error)
{
    const char *const word = option->word != NULL ? option->word : "";
    const char *const or = option->word != NULL ? " or " : "";
    char use[128];
    if (option->range_hint != NULL)
        snprintf(use, sizeof use, "%s", option->range_hint);
    else if (option->kind == BC_CHOICE)
        snprintf(use, sizeof use, "one of %s", option->choices);
    else
        snprintf(use, sizeof use, "%s%s%.15g to %.15g", word, or, option->min, option->max);
    return bc_error_set(error, "%s: '%.80s' is %s: use %s", name, text, wrong, use);
}

/* `real` gets the value of a whole number, too. */
static bool parse_number(enum bc_option_kind kind, const char *text, double *real, int64_t *whole)
{
    if (kind == BC_REAL)
        return bc_parse_real(text, real);
    if (kind == BC_PERCENT)
        return bc_parse_percent(text, real);
    const bool good = kind == BC_SIZE ? bc_parse_size(text, whole) : bc_parse_integer(text, whole);
    *real = (double)*whole;
    return good;
}

/* Each of these takes a text as the value and returns NULL, or what is wrong with the text. Limits
   apply if `limited`. */

static const char *set_number(const struct bc_option_entry *entry, const char *text, bool limited)
{
    const struct bc_option *const option = entry->option;
    double real = option->word_value;
    int64_t whole = is_whole(option->kind) ? (int64_t)real : 0;
    if (option->word == NULL || strcmp(text, option->word) != 0) {
        if (!parse_number(option->kind, text, &real, &whole))
            return mismatches[option->kind];
        if (limited && !in_range(option, real))
            return out_of_range;
    }
    if (is_whole(option->kind))
        *(int64_t *)entry->value = whole;
    else
        *(double *)entry->value = real;
    return NULL;
}

static const char *set_sizes(const struct bc_option_entry *entry, const char *text, bool limited)
{
    struct bc_size_list list = {0};
    const bool is_empty = *text == '\0' && !limited;
    if (!is_empty && !bc_parse_size_list(text, &list))
        return mismatches[BC_SIZE_LIST];
    for (size_t i = 0; limited && i < list.count; i++)
        if (!in_range(entry->option, (double)list.values[i])) {
            bc_size_list_free(&list);
            return out_of_range;
        }
    bc_size_list_free(entry->value);
    *(struct bc_size_list *)entry->value = list;
    return NULL;
}

/* The word at an index of "a|b|c", and its length; NULL behind the last one. */
static const char *choice_at(const char *choices, int index, int *length)
{
    for (; index > 0; index--) {
        choices += strcspn(choices, "|");
        if (*choices++ == '\0')
            return NULL;
    }
    *length = (int)strcspn(choices, "|");
    return choices;
}

static const char *set_choice(const struct bc_option_entry *entry, const char *text)
{
    const char *word;
    int length;
    for (int i = 0; (word = choice_at(entry->option->choices, i, &length)) != NULL; i++)
        if ((size_t)length == strlen(text) && strncmp(word, text, (size_t)length) == 0) {
            *(int *)entry->value = i;
            return NULL;
        }
    return mismatches[BC_CHOICE];
}

/* Takes `text` (NULL for a flag without a value) as the option's value, written to the option or
   the variable `name`. `limited`: the user wrote it, so a number must lie within the option's
   limits, and a list isn't empty. False with the error set if it can't be one. */
static bool set(const struct bc_option_entry *entry, const char *name, const char *text,
                bool limited, struct bc_error *error)
{
    const struct bc_option *const option = entry->option;
    const char *wrong = NULL;
    switch (option->kind) {
    case BC_FLAG:
        if (!bc_parse_boolean(text, entry->value))
            *(bool *)entry->value = true;
        break;
    case BC_INTEGER:
    case BC_SIZE:
    case BC_REAL:
    case BC_PERCENT:
        wrong = set_number(entry, text, limited);
        break;
    case BC_SIZE_LIST:
        wrong = set_sizes(entry, text, limited);
        break;
    case BC_CHOICE:
        wrong = set_choice(entry, text);
        break;
    case BC_NAMES:
        ((struct bc_names *)entry->value)->text = text;
        return bc_names_choose(name, entry->value, option->name_at, option->name_count, error);
    case BC_TEXT:
        *(const char **)entry->value = text;
        break;
    }
    return wrong == NULL || value_error(option, name, text, wrong, error);
}

/* ---- a value as text ------------------------------------------------------------------------- */

/* As people write it where that is exact, else to the last bit. */
static void append_real(struct bc_text *text, double value)
{
    char cell[32];
    double back;
    snprintf(cell, sizeof cell, "%.15g", value);
    if (!bc_parse_real(cell, &back) || back != value)
        snprintf(cell, sizeof cell, "%.17g", value);
    bc_text_append(text, "%s", cell);
}

/* The word that stands for the value of a number, or NULL. */
static const char *word_of(const struct bc_option_entry *entry, bool for_people)
{
    const struct bc_option *const option = entry->option;
    if (!is_number(option->kind))
        return NULL;
    const double number =
        is_whole(option->kind) ? (double)*(int64_t *)entry->value : *(double *)entry->value;
    if (for_people && option->zero != NULL && number == 0.0)
        return option->zero;
    return option->word != NULL && number == option->word_value ? option->word : NULL;
}

/* The value to be read again or, for people, with the name of a 0. The caller frees its start,
   which isn't NULL. */
static struct bc_text value_text(const struct bc_option_entry *entry, bool for_people)
{
    struct bc_text text = {0};
    const char *word = word_of(entry, for_people);
    bc_text_append(&text, "%s", word != NULL ? word : "");
    if (word != NULL)
        return text;
    switch (entry->option->kind) {
    case BC_FLAG:
        bc_text_append(&text, "%s", *(bool *)entry->value ? "yes" : "no");
        break;
    case BC_INTEGER:
    case BC_SIZE:
        bc_text_append(&text, "%" PRId64, *(int64_t *)entry->value);
        break;
    case BC_REAL:
    case BC_PERCENT:
        append_real(&text, *(double *)entry->value);
        break;
    case BC_SIZE_LIST: {
        const struct bc_size_list *const list = entry->value;
        for (size_t i = 0; i < list->count; i++)
            bc_text_append(&text, "%s%" PRId64, i > 0 ? "," : "", list->values[i]);
        break;
    }
    case BC_CHOICE: {
        int length = 0;
        word = choice_at(entry->option->choices, *(int *)entry->value, &length);
        bc_text_append(&text, "%.*s", length, word);
        break;
    }
    case BC_NAMES:
    case BC_TEXT:
        bc_text_append(&text, "%s", text_of(entry) != NULL ? text_of(entry) : "");
        break;
    }
    return text;
}

char *bc_option_text(const struct bc_option_entry *entry) { return value_text(entry, true).start; }

/* ---- the tables ------------------------------------------------------------------------------ */

void bc_options_create(struct bc_options *options, const struct bc_option_table *tables, int count)
{
    size_t rows = 0;
    for (int i = 0; i < count; i++)
        rows += tables[i].count;
    *options =
        (struct bc_options){.entries = bc_allocate(rows, sizeof *options->entries, NO_MEMORY)};
    for (int i = 0; i < count; i++)
        for (size_t row = 0; row < tables[i].count; row++) {
            const struct bc_option *const option = &tables[i].rows[row];
            struct bc_option_entry *const entry = &options->entries[options->count++];
            entry->option = option;
            entry->value = (char *)tables[i].values + option->at;
            /* Some defaults are texts. */
            struct bc_error error;
            if ((option->kind == BC_SIZE_LIST || option->kind == BC_NAMES) &&
                text_of(entry) != NULL &&
                !set(entry, option->long_name, text_of(entry), false, &error))
                bc_abort("default of %s", error.text);
        }
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
            if (!set(entry, entry->variable, text, true, error))
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

/* Sets the error that a word of the command line, without its value, is no option: it begins
 * several, or none. */
static bool no_option(const struct option *longs, const char *word, struct bc_error *error)
{
    const char *const name = word + strspn(word, "-");
    const size_t length = strlen(name);
    const bool is_long = strncmp(word, "--", 2) == 0;
    struct bc_closest closest = {.word = name, .length = length};
    const char *begun[2];
    int count = 0;
    for (const struct option *one = longs; one->name != NULL; one++) {
        bc_closest_try(&closest, one->name);
        if (is_long && count < 2 && strncmp(one->name, name, length) == 0)
            begun[count++] = one->name;
    }
    if (count == 2)
        return bc_error_set(error,
                            "%s: several options begin so, such as --%s and --%s: see --help", word,
                            begun[0], begun[1]);
    if (closest.name != NULL)
        return bc_error_set(error, "%s: no such option: did you mean --%s? --help lists all", word,
                            closest.name);
    return bc_error_set(error, "%s: no such option: see --help", word);
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
            return no_option(longs, name, error);
        struct bc_option_entry *const entry = find_entry(options, found);
        if (entry == NULL)
            return bc_error_set(error, "%s: needs a value: see --help", name);
        if (entry->option->short_name == found && given[1] != '-')
            snprintf(name, sizeof name, "-%c", entry->option->short_name);
        else
            snprintf(name, sizeof name, "--%s", entry->option->long_name);
        if (!set(entry, name, optarg, true, error))
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
        append_names(&help, option->name_at, option->name_count, ", ");
        bc_text_append(&help, "; or all. Case, spaces and dashes don't count");
    }
    fprintf(stream, "%*s", INDENT, "");
    bc_print_wrapped(stream, help.start, INDENT, WIDTH, "          ");
    free(help.start);
    const struct bc_text value = value_text(entry, true);
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
        const struct bc_text value = value_text(entry, false);
        bc_text_append(&text, "%zu %d %d %s", value.length, (int)entry->source,
                       is_text(entry->option->kind) && text_of(entry) == NULL, value.start);
        free(value.start);
    }
    return text.start;
}

/* Takes a value as it was encoded, not as a user writes it. Frees `text` or keeps it as the storage
   of the value. */
static bool take_value(struct bc_option_entry *entry, char *text)
{
    struct bc_error ignored;
    const bool keeps = is_text(entry->option->kind);
    if (keeps) {
        free(entry->owned);
        entry->owned = text;
    }
    const bool good = set(entry, entry->option->long_name, text, false, &ignored);
    if (!keeps)
        free(text);
    return good;
}

/* A number from 0 to `max` and the space behind it, from *text, which is moved on. */
static bool take_number(const char **text, unsigned long max, unsigned long *number)
{
    char *end;
    if (!isdigit((unsigned char)**text))
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
            (missing && entry->option->kind != BC_TEXT) || strlen(text) < length)
            return false;
        char *const value = missing ? NULL : strndup(text, length);
        text += length;
        if ((value == NULL && !missing) || !take_value(entry, value))
            return false;
        entry->source = (enum bc_option_source)source;
    }
    return *text == '\0';
}
