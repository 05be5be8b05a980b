#include "common/result/text.h"

#include "common/mpi/mpi_check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bc_text_append(struct bc_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    const size_t length = written > 0 ? (size_t)written : 0;
    if (text->length + length + 1 > text->capacity) {
        text->capacity = 2 * (text->length + length + 1);
        text->start = realloc(text->start, text->capacity);
        if (text->start == NULL)
            bc_abort("no memory for a text of %zu bytes", text->capacity);
    }
    va_start(arguments, format);
    vsnprintf(text->start + text->length, length + 1, format, arguments);
    va_end(arguments);
    text->length += length;
}

/* ---- plain text ------------------------------------------------------------------------------ */

/* The length in bytes of a character that begins with `first`; 0 if none does. */
static size_t length_by_first_byte(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Reads the first character of a text (RFC 3629). Returns its length in bytes; 0 if invalid. */
static size_t read_character(const char *text, uint32_t *character)
{
    /* The smallest character of each length. */
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    const size_t length = length_by_first_byte(first);
    *character = length <= 1 ? first : first & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0U) != 0x80) /* true for the end of the text, too */
            return 0;
        *character = *character << 6 | (byte & 0x3fU);
    }
    const bool surrogate = *character >= 0xd800 && *character < 0xe000;
    return length == 0 || surrogate || *character < min[length] || *character > 0x10ffff ? 0
                                                                                         : length;
}

static bool is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
           character == 0x2029;
}

void bc_make_plain_text(char *text, char control)
{
    char *to = text;
    while (*text != '\0') {
        uint32_t character;
        const size_t length = read_character(text, &character);
        if (length == 0 || is_control(character)) {
            *to = control;
            if (length == 0)
                *to = '?';
            to++;
            text += length > 0 ? length : 1;
            continue;
        }
        memmove(to, text, length);
        to += length;
        text += length;
    }
    *to = '\0';
}
