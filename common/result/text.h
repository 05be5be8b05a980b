/*
 * Growable strings; and texts from outside, such as arguments and host names, made safe for results
 * and terminals.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Growable string. All zeros is an empty string, without memory. */
struct bc_text {
    char *start; /* NULL, or ends in '\0'; the owner frees it */
    size_t length, capacity;
};

/* Appends what printf would write. Without memory the job ends. Local. */
void bc_text_append(struct bc_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, as vprintf. */
void bc_text_append_list(struct bc_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Prints a text, and the end of its line. The line has `column` characters so far; lines are broken
   between words so that they have at most `width`, and all but the first begin with `begin`. Local.
 */
void bc_print_wrapped(FILE *stream, const char *text, size_t column, size_t width,
                      const char *begin);

/* Makes a text plain, in place: one line of UTF-8 without control characters. These, and the line
   and paragraph separators of Unicode, become `control`; each byte that isn't UTF-8 becomes a
   question mark. The text gets no longer. Local. */
void bc_make_plain_text(char *text, char control);
