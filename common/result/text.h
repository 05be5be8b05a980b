/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growable strings; and texts from outside, such as arguments and host names, made safe for results
 * and terminals. All functions are local.
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

/* Appends as printf. If memory runs out, the job ends. */
void bc_text_append(struct bc_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bc_text_append_list(struct bc_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Prints a text and the end of its line, which has `column` characters so far. Breaks lines between
   words so that they have at most `width`; all but the first begin with `begin`. */
void bc_print_wrapped(FILE *stream, const char *text, size_t column, size_t width,
                      const char *begin);

/* Prints a plain text as a JSON string (RFC 8259). */
void bc_print_json(FILE *stream, const char *text);

/* Makes a text plain, in place and never longer: one line of UTF-8. Control characters and line
   separators become `control`, bytes that aren't UTF-8 become question marks. */
void bc_make_plain_text(char *text, char control);
