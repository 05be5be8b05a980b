/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a result: tab-separated, aligned for reading (`table`), or as JSON Lines (`json`), whose
 * objects are {"metadata": {...}}, {"note": "..."} and so on, the rows, and {"end": {...}}. A
 * result for people has a short head and the main columns only. Internal to common/run, and for the
 * monitor's report. All functions are local; NULL as in output.h.
 */
#pragma once

#include "common/result/output.h"

#include <stdio.h>

/* The contents of a result in addition to its rows. A result without metadata has no line that
   begins with `#`: remarks go to stderr, and nothing marks its end. */
enum bc_content { BC_WITH_METADATA, BC_WITH_SHORT_METADATA, BC_WITH_HEADER, BC_ROWS_ONLY };

struct bc_style {
    enum bc_format format;
    enum bc_content content;
    const char *program; /* begins remarks on stderr; must outlive the output. May be NULL with
                            BC_WITH_METADATA */
    const char *columns; /* comma-separated names of the shown columns, in order; NULL: all */
    const char *spare;   /* shown columns that a table may leave out (struct bc_table) */
    const char *varying; /* BC_RUN_KEY columns in which rows differ, each followed by a comma; NULL:
                            none */
};

/* Opens a result for the columns of `table`, which must outlive the output: the file `path`, or
   stdout if NULL. Returns NULL with errno set if it can't be opened. */
struct bc_output *bc_output_open(const char *path, const struct bc_style *style,
                                 const struct bc_table *table);

/* Opens a result on a stream that stays open. The locale must have a point as decimal point. */
struct bc_output *bc_output_attach(FILE *stream, const struct bc_style *style,
                                   const struct bc_table *table);

/* Writes `# key: value` of a short head, cut to this number of lines. */
void bc_output_short_meta(struct bc_output *output, int lines, const char *key, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* Writes a warning of a disturbance of the next row, in which a rank waited for a processor for
   this share of the time (0: a different disturbance). With short metadata one line at the end
   counts these rows instead, with the largest share. */
void bc_output_disturbed(struct bc_output *output, double waited_pct, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes `# columns:` with each column's name and role (`name=key time_us=less`), then the header
   row, as the style asks, and flushes. With short metadata all of this waits for the first row,
   roles are words, and a line `# all_rows:` has the keys that aren't shown. A note names the
   columns that a table leaves out. */
void bc_output_header(struct bc_output *output);

/* Writes the row of a result struct, of the type that the columns name, and flushes, so that a
   killed run keeps it. Texts are made plain; tabs, line breaks, `#` and `"` become underscores. */
void bc_output_row(struct bc_output *output, const void *result);

/* Writes, for people, the meaning of shown columns (about), and `# end: N rows, exit STATUS`, which
   marks a complete result; writes nothing without metadata or after a loss. Call it last, with the
   program's exit status. */
void bc_output_end(struct bc_output *output, int status);

/* Returns true if everything so far could be written, to a file that still exists; true for NULL.
 */
bool bc_output_good(const struct bc_output *output);

/* Flushes and closes, except stdout and attached streams. Returns true if nothing was lost, or for
   NULL; else false with errno set. */
bool bc_output_close(struct bc_output *output);

/* Flushes a stream to a file of its own. Returns 0 if everything so far could be written and the
   file still exists, else errno. */
int bc_stream_problem(FILE *stream);

/* Returns the first of these comma-separated names that is no column, and its length; NULL if all
   are columns. */
const char *bc_table_lacks(const struct bc_table *table, const char *names, size_t *length);

/* Returns true if the table has a column `status` that is BC_FAIL in a result struct. */
bool bc_table_failed(const struct bc_table *table, const void *result);
