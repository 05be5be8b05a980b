/*
 * The result of a run: metadata, one header row, rows (DESIGN: output
 * contract). Tab-separated, or aligned for reading (`table`).
 *
 * Only the rank that reports opens an output; on all others the handle is NULL
 * and every function does nothing, so that callers need no branch. All
 * functions are local.
 */
#ifndef COMMCOST_COMMON_RESULT_OUTPUT_H
#define COMMCOST_COMMON_RESULT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a column is to somebody who compares two results. */
enum bc_role {
    BC_KEY,  /* tells rows apart; the same in every launch */
    BC_LESS, /* a result; less is better */
    BC_MORE, /* a result; more is better */
    BC_INFO, /* neither: describes the measurement, or follows from results, or
                is too restless to be compared (maxima) */
    BC_ROLES
};

/* How a role is called in a result: key, less, more, info. */
extern const char *const bc_role_names[BC_ROLES];

struct bc_column {
    const char *name; /* without blanks, if there is to be a header */
    enum bc_role role;
    int decimals; /* of a real number in this column */
};

struct bc_table {
    const struct bc_column *columns;
    size_t count; /* at most BC_COLUMNS_MAX */
};

#define BC_COLUMNS_MAX 48
#define BC_CELL_LENGTH 64

enum bc_format { BC_FORMAT_TSV, BC_FORMAT_TABLE };

/* What a result has beside its rows. One without metadata has no line that begins with
   `#`: remarks go to stderr, and nothing marks its end. */
enum bc_content { BC_WITH_METADATA, BC_WITH_HEADER, BC_ROWS_ONLY };

/* How a result is written. */
struct bc_style {
    enum bc_format format;
    enum bc_content content;
    const char *program; /* its name, which begins a remark on stderr; must stay as
                            long as the output. NULL only with BC_WITH_METADATA */
};

struct bc_output; /* an open result */

/* Opens a result for the columns of `table`, which must stay as long as the
   output: to the file `path`, or to stdout if NULL. NULL with errno set if it
   can't be opened. */
struct bc_output *bc_output_open(const char *path, const struct bc_style *style,
                                 const struct bc_table *table);

/* The same, at the place where `stream` is, which stays open when the output is
   closed. The process's locale stays as it is: the caller sees to it that the
   decimal point is a point. NULL without memory. */
struct bc_output *bc_output_attach(FILE *stream, const struct bc_style *style,
                                   const struct bc_table *table);

/* Writes `# key: value`, with metadata only. Control characters in the value become spaces, and
   bytes that are not UTF-8 question marks, so that any value leaves the format whole. */
void bc_output_meta(struct bc_output *output, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes `# WORD: text`; the word is note, warning, verbose or debug. May
   stand anywhere. To stderr as `PROGRAM: WORD: text` if the result is without
   metadata. */
void bc_output_remark(struct bc_output *output, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes `# columns:` with each column's name and role (`name=key time_us=less`),
   so that a result says by itself how to compare it, then the header row, and
   flushes. Without metadata writes the header row alone, or nothing, as the style
   says. */
void bc_output_header(struct bc_output *output);

/* A row that is being filled. Cells that are not set are NA. */
struct bc_row {
    const struct bc_table *table;
    char cells[BC_COLUMNS_MAX][BC_CELL_LENGTH];
};

void bc_row_clear(struct bc_row *row, const struct bc_table *table);

/* Set the cell of the column called `name`, which must exist. A real number
   that is not finite is NA; control characters (tabs, line breaks), `#` and `"` in a
   text become underscores, and bytes that are not UTF-8 question marks. */
void bc_row_text(struct bc_row *row, const char *name, const char *text);
void bc_row_integer(struct bc_row *row, const char *name, int64_t value);
void bc_row_real(struct bc_row *row, const char *name, double value);

/* Writes a row and flushes it, so that a run killed later keeps it. */
void bc_output_row(struct bc_output *output, const struct bc_row *row);

/* Writes `# end: N rows, exit STATUS`, which tells a complete result from one that was
   cut off: to be called last, with the status that the program is about to
   return. Nothing is written without metadata, or once something was lost. */
void bc_output_end(struct bc_output *output, int status);

/* True if everything so far could be written, to a file that is still there; true
   for NULL. */
bool bc_output_good(const struct bc_output *output);

/* Flushes and closes, but for stdout and what was attached. True if nothing was lost,
   else false with errno set to why; true for NULL. */
bool bc_output_close(struct bc_output *output);

/* Flushes a stream that writes to a file of its own. 0 if everything so far could be
   written and the file is still there (a folder may have been removed meanwhile),
   else what errno says of it. */
int bc_stream_problem(FILE *stream);

#endif
