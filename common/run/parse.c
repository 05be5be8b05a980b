/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/parse.h"

#include "common/memory/allocate.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LIST_MAX 4096

bool bc_parse_integer(const char *text, int64_t *value)
{
    /* strtoll would skip leading space. */
    if (text == NULL || *text == '\0' || isspace((unsigned char)*text))
        return false;
    char *end;
    errno = 0;
    const long long parsed = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        return false;
    *value = parsed;
    return true;
}

/* strtod would also take hexadecimal numbers, "inf", "nan" and leading space. */
static bool parse_real_prefix(const char *text, size_t length, double *value)
{
    if (length == 0 || strspn(text, "+-.0123456789eE") < length)
        return false;
    char *end;
    const double parsed = strtod(text, &end);
    if (end != text + length || !isfinite(parsed))
        return false;
    *value = parsed;
    return true;
}

bool bc_parse_real(const char *text, double *value)
{
    return text != NULL && parse_real_prefix(text, strlen(text), value);
}

bool bc_parse_percent(const char *text, double *value)
{
    size_t length = text != NULL ? strlen(text) : 0;
    if (length > 0 && text[length - 1] == '%')
        length--;
    return parse_real_prefix(text, length, value);
}

static bool parse_size_prefix(const char *text, size_t length, int64_t *value)
{
    int64_t number = 0;
    size_t i = 0;
    for (; i < length && isdigit((unsigned char)text[i]); i++) {
        const int digit = text[i] - '0';
        if (number > (INT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (i == 0)
        return false;
    if (i < length) {
        static const char suffixes[] = "KMG";
        const char *const suffix = strchr(suffixes, toupper((unsigned char)text[i]));
        if (suffix == NULL || i + 1 != length)
            return false;
        const int shift = 10 * (int)(suffix - suffixes + 1);
        if (number > INT64_MAX >> shift)
            return false;
        number <<= shift;
    }
    *value = number;
    return true;
}

bool bc_parse_size(const char *text, int64_t *value)
{
    return text != NULL && parse_size_prefix(text, strlen(text), value);
}

bool bc_parse_boolean(const char *text)
{
    return !(*text == '\0' || strcmp(text, "0") == 0 || strcasecmp(text, "no") == 0 ||
             strcasecmp(text, "false") == 0);
}

/* Appends one element of a list, a size or a range, of `length` characters. */
static bool append_element(struct bc_size_list *list, const char *text, size_t length)
{
    const char *const colon = memchr(text, ':', length);
    const size_t first_length = colon != NULL ? (size_t)(colon - text) : length;
    int64_t first, last = 0;
    if (!parse_size_prefix(text, first_length, &first))
        return false;
    if (colon != NULL && (!parse_size_prefix(colon + 1, length - first_length - 1, &last) ||
                          first < 1 || last < first))
        return false;
    for (; list->count < LIST_MAX; first *= 2) {
        list->values[list->count++] = first;
        if (colon == NULL || first > last / 2)
            return true;
    }
    return false;
}

bool bc_parse_size_list(const char *text, struct bc_size_list *list)
{
    if (text == NULL)
        return false;
    struct bc_size_list parsed = {
        .values = bc_allocate(LIST_MAX, sizeof *parsed.values, "no memory for a list of sizes")};
    for (size_t length;; text += length + 1) {
        length = strcspn(text, ",");
        if (!append_element(&parsed, text, length)) {
            bc_size_list_free(&parsed);
            return false;
        }
        if (text[length] == '\0')
            break;
    }
    bc_size_list_free(list);
    *list = parsed;
    return true;
}

int64_t bc_size_list_max(const struct bc_size_list *list)
{
    int64_t max = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->values[i] > max)
            max = list->values[i];
    return max;
}

bool bc_size_list_is_first(const struct bc_size_list *sizes, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (sizes->values[k] == sizes->values[i])
            return false;
    return true;
}

void bc_size_list_free(struct bc_size_list *list)
{
    free(list->values);
    *list = (struct bc_size_list){0};
}
