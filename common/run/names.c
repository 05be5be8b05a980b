#include "common/run/names.h"

#include <ctype.h>
#include <string.h>

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

bool bc_names_choose(const char *option, const char *text, bc_name_fn *name_of, bool *chosen,
                     int count, struct bc_error *error)
{
    memset(chosen, 0, (size_t)count * sizeof *chosen);
    for (const char *word = text;; word++) {
        const size_t length = strcspn(word, ",");
        const bool all = is_name(word, length, "all");
        bool known = all;
        for (int i = 0; i < count; i++)
            if (all || is_name(word, length, name_of(i)))
                chosen[i] = known = true;
        if (!known)
            return bc_error_set(error,
                                "--%s: '%.*s' is none: use all, or names such "
                                "as %s,%s",
                                option, (int)(length < SHOWN_MAX ? length : SHOWN_MAX), word,
                                name_of(0), name_of(count - 1));
        word += length;
        if (*word == '\0')
            return true;
    }
}
