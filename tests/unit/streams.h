/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files, standard streams and locales of unit tests. A check in here fails the test that calls.
 */
#ifndef COMMCOST_TESTS_UNIT_STREAMS_H
#define COMMCOST_TESTS_UNIT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Makes an empty file and sets `path` to its name. */
enum { TEMPORARY_PATH_MAX = 64 };
void make_temporary(char path[TEMPORARY_PATH_MAX]);

/* Replaces what is in a file; makes the file if there is none. */
void write_text(const char *path, const char *text);

/* Reads what is in a file, the first `size` - 1 bytes, as a text. Returns `text`. */
const char *read_text(const char *path, char *text, size_t size);

/* Puts a file that exists behind stdout or stderr, empties it, and returns what was there before,
   for `restore`. Use no check before `restore`: a failure would be reported into the file. */
int divert(FILE *stream, const char *path);
void restore(FILE *stream, int saved);

/* Chooses a locale with a decimal comma for the whole process, which the build makes where it has
   localedef; false if there is none. */
bool choose_decimal_comma(void);

#endif
