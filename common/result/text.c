/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/result/text.h"

#include "common/memory/allocate.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void bc_text_append_list(struct bc_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int written = vsnprintf(NULL, 0, format, again);
    va_end(again);
    const size_t length = written > 0 ? (size_t)written : 0;
    if (text->length + length + 1 > text->capacity) {
        text->capacity = 2 * (text->length + length + 1);
        text->start = bc_reallocate(text->start, text->capacity, 1,
                                    "no memory for a text of %zu bytes", text->capacity);
    }
    vsnprintf(text->start + text->length, length + 1, format, arguments);
    text->length += length;
}

void bc_text_append(struct bc_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bc_text_append_list(text, format, arguments);
    va_end(arguments);
}

void bc_print_json(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

/* ---- plain text ------------------------------------------------------------------------------ */

/* Reads the first character of a text (RFC 3629). Returns its length in bytes; 0 if invalid. */
static size_t read_character(const char *text, uint32_t *character)
{
    /* For each length: the bits of the first byte that determine it, and the smallest character. */
    static const struct {
        uint32_t mask, lead, min;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char first = (unsigned char)text[0];
    size_t more = 0;
    while ((first & forms[more].mask) != forms[more].lead)
        if (++more == sizeof forms / sizeof *forms)
            return 0;
    *character = first & ~forms[more].mask;
    for (size_t i = 1; i <= more; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xc0U) != 0x80) /* true for the end of the text, too */
            return 0;
        *character = *character << 6 | (byte & 0x3fU);
    }
    const bool surrogate = *character >= 0xd800 && *character < 0xe000;
    return surrogate || *character < forms[more].min || *character > 0x10ffff ? 0 : more + 1;
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
        if (length == 0) {
            *to++ = '?';
            text++;
        } else if (is_control(character)) {
            *to++ = control;
            text += length;
        } else {
            memmove(to, text, length);
            to += length;
            text += length;
        }
    }
    *to = '\0';
}

void bc_print_wrapped(FILE *stream, const char *text, size_t column, size_t width,
                      const char *begin)
{
    for (bool is_first = true; *text != '\0'; is_first = false) {
        const size_t blanks = strspn(text, " "), length = strcspn(text + blanks, " ");
        if (!is_first && column + blanks + length > width) {
            fprintf(stream, "\n%s", begin);
            column = strlen(begin);
        } else {
            fprintf(stream, "%*s", (int)blanks, "");
            column += blanks;
        }
        fprintf(stream, "%.*s", (int)length, text + blanks);
        column += length;
        text += blanks + length;
    }
    fputc('\n', stream);
}
