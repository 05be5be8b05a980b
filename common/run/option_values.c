/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/option_table.h"

#include "common/result/text.h"
#include "common/run/parse.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Number of characters shown of an erroneous name. */
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

/* ---- names from a list ----------------------------------------------------------------------- */

static bool is_separator(char character)
{
    return character != '\0' && strchr(" -_", character) != NULL;
}

/* Returns true if the word of `length` characters is the name. */
static bool is_name(const char *word, size_t length, const char *name)
{
    size_t i = 0;
    for (;;) {
        while (i < length && is_separator(word[i]))
            i++;
        while (is_separator(*name))
            name++;
        if (i == length || *name == '\0')
            return i == length && *name == '\0';
        if (tolower((unsigned char)word[i++]) != tolower((unsigned char)*name++))
            return false;
    }
}

int bc_append_names(struct bc_text *text, bc_name_fn *name_at, int count, const char *separator)
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

/* Sets the error for a word that is no name; it lists all names if they are few. */
static bool name_error(const char *given_to, const char *word, size_t length, bc_name_fn *name_at,
                       int count, struct bc_error *error)
{
    enum { LISTED_MAX = 8 };
    const int shown = (int)(length < SHOWN_MAX ? length : SHOWN_MAX);
    struct bc_text use = {0};
    const bool few = bc_append_names(&use, name_at, count, ",") <= LISTED_MAX;
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

static bool in_range(const struct bc_option *option, double value)
{
    return value >= option->min && value <= option->max;
}

static const char out_of_range[] = "out of range";

/* The fault of a text that an option of a kind can't take. */
static const char *const mismatches[] = {
    [BC_INTEGER] = "not a whole number",
    [BC_REAL] = "not a number",
    [BC_PERCENT] = "not a number in percent",
    [BC_SIZE] = "not a whole number (K, M or G may follow it)",
    [BC_SIZE_LIST] = "not a list of sizes (8,1K,1M), ranges (1:4M) or both",
    [BC_CHOICE] = "none of the choices",
};

/* Sets the error of the value `text` for `name`: the fault and the remedy. */
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

/* Parses a number; `real` gets the value of a whole number, too. */
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

/* Each of these takes a text as the value and returns NULL, or the fault of the text. Limits apply
   if `limited`. */

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

/* Returns the word at an index of "a|b|c", and its length; NULL after the last one. */
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

bool bc_value_set(const struct bc_option_entry *entry, const char *name, const char *text,
                  bool limited, struct bc_error *error)
{
    const struct bc_option *const option = entry->option;
    const char *wrong = NULL;
    switch (option->kind) {
    case BC_FLAG:
        *(bool *)entry->value = text == NULL || bc_parse_boolean(text);
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

/* Appends a number as people write it if that is exact, else to the last bit. */
static void append_real(struct bc_text *text, double value)
{
    char cell[32];
    double back;
    snprintf(cell, sizeof cell, "%.15g", value);
    if (!bc_parse_real(cell, &back) || back != value)
        snprintf(cell, sizeof cell, "%.17g", value);
    bc_text_append(text, "%s", cell);
}

/* Returns the word for the value of a number, or NULL. */
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

char *bc_option_text(const struct bc_option_entry *entry, bool for_people)
{
    struct bc_text text = {0};
    const char *word = word_of(entry, for_people);
    bc_text_append(&text, "%s", word != NULL ? word : "");
    if (word != NULL)
        return text.start;
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
        word = *(const char *const *)entry->value;
        bc_text_append(&text, "%s", word != NULL ? word : "");
        break;
    }
    return text.start;
}
