#include "common/run/closest.h"

#include <ctype.h>
#include <string.h>

/* A longer word or name is close to none. */
enum { LENGTH_MAX = 63, EDITS_MAX = 3 };

static int letter(char character)
{
    return strchr(" -_", character) != NULL ? '-' : tolower((unsigned char)character);
}

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

/* The edits that make one text the other; both have at most LENGTH_MAX characters. */
static size_t edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    /* to[i][j]: from the first i characters of a to the first j of b */
    size_t to[LENGTH_MAX + 1][LENGTH_MAX + 1];
    for (size_t i = 0; i <= a_length; i++)
        for (size_t j = 0; j <= b_length; j++) {
            if (i == 0 || j == 0) {
                to[i][j] = i + j;
                continue;
            }
            const size_t replaced = to[i - 1][j - 1] + (letter(a[i - 1]) != letter(b[j - 1]));
            to[i][j] = min(replaced, min(to[i - 1][j], to[i][j - 1]) + 1);
            if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
                letter(a[i - 2]) == letter(b[j - 1]))
                to[i][j] = min(to[i][j], to[i - 2][j - 2] + 1);
        }
    return to[a_length][b_length];
}

void bc_closest_try(struct bc_closest *closest, const char *name)
{
    const size_t length = strlen(name);
    if (closest->length > LENGTH_MAX || length > LENGTH_MAX)
        return;
    const size_t distance = edits(closest->word, closest->length, name, length);
    if (distance > min(closest->length / 3, EDITS_MAX) ||
        (closest->name != NULL && distance >= closest->distance))
        return;
    closest->name = name;
    closest->distance = distance;
}
