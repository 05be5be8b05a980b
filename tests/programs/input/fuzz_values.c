/*
 * Values of options, one by one, and texts of others: what is bad leaves the value as it was,
 * what is good is what the text says.
 */
#include "target.h"

#include "common/run/option_table.h"
#include "common/run/parse.h"
#include "common/result/text.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED INT64_C(-987654321)
#define LIST_MAX 4096

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    must(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "a locale C.UTF-8");
    return 0;
}

static void try_whole_numbers(const char *text)
{
    int64_t value = UNTOUCHED, again;
    char back[32];
    if (bc_parse_size(text, &value)) {
        must(value >= 0, "no size below 0");
        (void)snprintf(back, sizeof back, "%" PRId64, value);
        must(bc_parse_size(back, &again) && again == value, "a size that can be read back");
    } else {
        must(value == UNTOUCHED, "a bad size leaves the value");
    }
    value = UNTOUCHED;
    if (bc_parse_integer(text, &value)) {
        (void)snprintf(back, sizeof back, "%" PRId64, value);
        must(bc_parse_integer(back, &again) && again == value, "a number that can be read back");
    } else {
        must(value == UNTOUCHED, "a bad number leaves the value");
    }
}

static void try_reals(const char *text)
{
    double value = (double)UNTOUCHED, percent = (double)UNTOUCHED;
    const bool real = bc_parse_real(text, &value);
    must(real ? isfinite(value) : value == (double)UNTOUCHED, "a finite number or none");
    const bool is_percent = bc_parse_percent(text, &percent);
    must(is_percent ? isfinite(percent) : percent == (double)UNTOUCHED,
         "a finite percentage or none");
    must(!real || (is_percent && percent == value), "a number that is a percentage, too");
    (void)bc_parse_boolean(text); /* any text is one */
}

static void try_list(const char *text)
{
    struct bc_size_list list = {0};
    if (bc_parse_size_list(text, &list))
        must(list.count >= 1 && list.count <= LIST_MAX,
             "a list with values, but not with too many");
    else
        must(list.values == NULL && list.count == 0, "a bad list leaves the value");
    for (size_t i = 0; i < list.count; i++)
        must(list.values[i] >= 0, "no size below 0 in a list");
    bc_size_list_free(&list);
}

static const char *name_of(int i)
{
    static const char *const names[] = {"put", "MPI Send", "3D grid", "lock_all+flush"};
    return names[i];
}

static void try_names(const char *text)
{
    struct bc_names names = {.text = text};
    struct bc_error error = {""};
    const bool good = bc_names_choose("--types", &names, name_of, 4, &error);
    bool any = false;
    for (int i = 0; i < BC_NAMES_MAX; i++) {
        any = any || names.chosen[i];
        must(i < 4 || !names.chosen[i], "no choice beyond the list");
    }
    must(good == (error.text[0] == '\0'), "an error where a name is none");
    must(!good || any, "good names choose");
    must(mbstowcs(NULL, error.text, 0) != (size_t)-1, "errors are text");
}

static void try_plain(const char *text)
{
    char *const once = strdup(text);
    must(once != NULL, "memory");
    bc_make_plain_text(once, '_');
    must(strlen(once) <= strlen(text), "plain text is no longer");
    must(mbstowcs(NULL, once, 0) != (size_t)-1, "plain text is UTF-8");
    for (const char *c = once; *c != '\0'; c++)
        must((unsigned char)*c >= ' ' && *c != 127, "plain text has no control characters");
    free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *const text = text_of(bytes, count);
    try_whole_numbers(text);
    try_reals(text);
    try_list(text);
    try_names(text);
    try_plain(text);
    free(text);
    return 0;
}
