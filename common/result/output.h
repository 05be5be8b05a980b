/*
 * The result of a run: metadata, one header row, rows (DESIGN: output contract). Tab-separated,
 * aligned for reading (`table`), or without a header row as figures of merit (`metrics`). A result
 * for people has a short head and the main columns only.
 *
 * Only the rank that reports opens an output; on all others the handle is NULL and every function
 * does nothing, so that callers need no branch. All functions are local.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a column is to somebody who compares two results: in a result key, less, more, info. */
enum bc_role {
    BC_KEY,     /* tells rows apart; the same in every launch */
    BC_RUN_KEY, /* the same; all rows of a run share it, unless it is a main column or the style
                   says that it varies */
    BC_LESS,    /* a result; less is better */
    BC_MORE,    /* a result; more is better */
    BC_INFO,    /* neither: describes the measurement, or follows from results, or
                   varies too much to be compared (maxima) */
    BC_ROLES
};

/* How a row of measurements ended; programs add words of their own. */
#define BC_OK "ok"
#define BC_BUDGET "budget" /* the time was up before the precision was reached */
#define BC_FAIL "FAIL"     /* wrong data */

/* What every row of measurements ends with. */
struct bc_outcome {
    int visits;      /* in which the samples were taken */
    double lost_pct; /* the share of the time in which ranks were interrupted, mean over ranks; NAN:
                        not known */
    int64_t samples;
    const char *status;
    int slowest_rank; /* of MPI_COMM_WORLD, the one that was slowest most often */
};

/* True if the row's data was wrong. */
bool bc_outcome_failed(const struct bc_outcome *outcome);

/* What a member of a result struct holds, and so how its cell is written. */
enum bc_cell {
    BC_CELL_TEXT,    /* const char *; NULL: NA */
    BC_CELL_CHARS,   /* char[] */
    BC_CELL_INT,     /* int; BC_NO_INT: NA */
    BC_CELL_INTEGER, /* int64_t; BC_NO_INTEGER: NA */
    BC_CELL_REAL,    /* double; not finite: NA */
    BC_CELL_AMOUNT,  /* double, without decimals where it is a whole number */
    BC_CELL_US,      /* double in ns, written in microseconds */
    BC_CELL_TIME     /* the same, never below 0 */
};

#define BC_NO_INT INT_MIN
#define BC_NO_INTEGER INT64_MIN

struct bc_column {
    const char *name; /* without blanks, if there is to be a header */
    enum bc_role role;
    int places; /* decimals of a real number; of others, the characters that its column takes in
                   a table, 0: as usual */
    enum bc_cell cell;
    size_t at;         /* offsetof the value in the result struct */
    const char *about; /* what the value says, for people; NULL: nothing */
};

/* For unevaluated expressions; not defined. */
extern void *const bc_no_object;

/* A column of a member of `struct type`; the member's type says how the cell is written. */
#define BC_COLUMN(name, role, places, type, member)                                                \
    BC_COLUMN_ABOUT(NULL, name, role, places, type, member)

/* The same with what its value says: `# NAME: about`, after the rows of a result for people. */
#define BC_COLUMN_ABOUT(about, name, role, places, type, member)                                     \
    {                                                                                                \
        name, role, places,                                                                        \
            _Generic(((struct type *)bc_no_object)->member, const char *: BC_CELL_TEXT, char *: BC_CELL_CHARS, \
                     int: BC_CELL_INT, int64_t: BC_CELL_INTEGER, double: BC_CELL_REAL),                                              \
            offsetof(struct type, member), about \
    }

/* A column of a double that is written in another way than BC_CELL_REAL. */
#define BC_COLUMN_AS(cell, name, role, places, type, member)                                       \
    {                                                                                              \
        name, role, places,                                                                        \
            _Generic(((struct type *)bc_no_object)->member, double                                 \
                     : (cell)),                                                                    \
            offsetof(struct type, member), NULL                                                    \
    }

/* The columns x_us, x_lo_us, x_hi_us, x_p99_us and x_max_us of a struct bc_summary of times in
   ns; the second one has all but x_us. */
#define BC_TIME_COLUMNS(name, role, decimals, type, member)                                        \
    BC_COLUMN_AS(BC_CELL_TIME, name "_us", role, decimals, type, member.value),                    \
        BC_TIME_RANGE_COLUMNS(name, decimals, type, member)
#define BC_TIME_RANGE_COLUMNS(name, decimals, type, member)                                        \
    BC_COLUMN_AS(BC_CELL_TIME, name "_lo_us", BC_INFO, decimals, type, member.interval.lo),        \
        BC_COLUMN_AS(BC_CELL_TIME, name "_hi_us", BC_INFO, decimals, type, member.interval.hi),    \
        BC_COLUMN_AS(BC_CELL_TIME, name "_p99_us", BC_INFO, decimals, type, member.p99),           \
        BC_COLUMN_AS(BC_CELL_TIME, name "_max_us", BC_INFO, decimals, type, member.max)

/* The columns of a struct bc_outcome. */
#define BC_OUTCOME_COLUMNS(type, member)                                                           \
    BC_COLUMN("visits", BC_INFO, 0, type, member.visits),                                          \
        BC_COLUMN("lost_pct", BC_INFO, 1, type, member.lost_pct),                                  \
        BC_COLUMN("samples", BC_INFO, 0, type, member.samples),                                    \
        BC_COLUMN("status", BC_INFO, 0, type, member.status),                                      \
        BC_COLUMN("slowest_rank", BC_INFO, 0, type, member.slowest_rank)

struct bc_table {
    const struct bc_column *columns;
    size_t count;
    const char *main;  /* the names of the columns that people look at first, with commas in
                          between; NULL: all */
    const char *spare; /* those of them that BC_FORMAT_TABLE leaves out, the last one first, until a
                          line has at most 100 characters; NULL: none */
};

/* The table with one more key in front. The result stays as long as the process. */
const struct bc_table *bc_table_with_key(const struct bc_table *own, struct bc_column key);

/* The first of these names, which have commas in between, that is no column, and its length; NULL
   if all are. */
const char *bc_table_lacks(const struct bc_table *table, const char *names, size_t *length);

/* Room for a host's name (256 characters in Open MPI) with a number, and the end of the text. */
#define BC_CELL_LENGTH 320

enum bc_format {
    BC_FORMAT_TSV,
    BC_FORMAT_TABLE,
    BC_FORMAT_METRICS /* see lines.c */
};

/* What a result has beside its rows. One without metadata has no line that begins with
   `#`: remarks go to stderr, and nothing marks its end. */
enum bc_content { BC_WITH_METADATA, BC_WITH_SHORT_METADATA, BC_WITH_HEADER, BC_ROWS_ONLY };

/* How a result is written. */
struct bc_style {
    enum bc_format format;
    enum bc_content content;
    const char *program; /* its name, which begins a remark on stderr and a metric; must stay as
                            long as the output. NULL only with BC_WITH_METADATA, and not with
                            BC_FORMAT_METRICS */
    const char *columns; /* the names of those that are shown, in their order, with commas in
                            between; NULL: all. BC_FORMAT_METRICS has all */
    const char *spare;   /* those of them that a table may leave out (struct bc_table) */
    const char *varying; /* the names of BC_RUN_KEY columns in which rows differ, with a comma
                            behind each; NULL: none */
};

struct bc_output; /* an open result */

/* Opens a result for the columns of `table`, which must stay as long as the output: to the file
   `path`, or to stdout if NULL. NULL with errno set if it can't be opened. */
struct bc_output *bc_output_open(const char *path, const struct bc_style *style,
                                 const struct bc_table *table);

/* The same, to a stream that stays open. The process's locale stays as it is: the caller sees to it
   that the decimal point is a point. */
struct bc_output *bc_output_attach(FILE *stream, const struct bc_style *style,
                                   const struct bc_table *table);

/* Writes `# key: value`, with full metadata only. The value is made plain (text.h). The key `note`
   is a remark that is for the record and not for people. */
void bc_output_meta(struct bc_output *output, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same in a short head, in place of several lines of the full one; cut to one line or two. */
void bc_output_short_meta(struct bc_output *output, int lines, const char *key, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* Writes `# WORD: text`; the word is note, warning, verbose or debug. May stand anywhere. With
   short metadata notes and warnings come after the last row, in lines of at most 100 characters,
   all but the first of which begin with `#` and three blanks. To stderr as
   `PROGRAM: WORD: text` if the result is without metadata. */
void bc_output_remark(struct bc_output *output, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes a warning of what disturbed the row that comes next: that a rank waited for a processor
   for this share of the row's time, or, where that is 0, something else. With short metadata the
   end of the result says of how many rows there is one, and the largest share, instead. */
void bc_output_disturbed(struct bc_output *output, double waited_pct, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes `# columns:` with each column's name and role (`name=key time_us=less`), so that a result
   says by itself how to compare it, then the header row, and flushes. Without metadata writes the
   header row alone, or nothing, as the style says. With short metadata all that comes with the
   first row: `# all_rows:` with the keys that aren't shown and their values, and `# columns:` with
   words for the roles. A note names the columns that a table leaves out. */
void bc_output_header(struct bc_output *output);

/* Writes the row of a result struct, whose type is the one that the table's columns name, and
   flushes the row, so that a run that is killed later keeps it. Texts are made plain; in them tabs,
   line breaks, `#` and `"` become underscores. */
void bc_output_row(struct bc_output *output, const void *result);

/* True if the table has a column `status` that says BC_FAIL in a result struct. */
bool bc_table_failed(const struct bc_table *table, const void *result);

/* For people says what the values in shown columns say (about). Writes `# end: N rows, exit
   STATUS`, which tells a complete result from one that was cut off. Call it last, with the exit
   status that the program will return. Nothing is written without metadata, or once something was
   lost. */
void bc_output_end(struct bc_output *output, int status);

/* True if everything so far could be written, to a file that is still there; true for NULL. */
bool bc_output_good(const struct bc_output *output);

/* Flushes and closes, but for stdout and what was attached. True if nothing was lost,
   else false with errno set to why; true for NULL. */
bool bc_output_close(struct bc_output *output);

/* Flushes a stream that writes to a file of its own. 0 if everything so far could be written and
   the file is still there (a folder may have been removed meanwhile), else what errno says of it.
 */
int bc_stream_problem(FILE *stream);
