/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a run: metadata, a header row, rows (docs/output.md). Programs describe their rows
 * with this header; common/result/writer.h writes the rows.
 *
 * Only the rank that reports has an output. On all others the handle is NULL and every function
 * does nothing, so that callers need no branch. All functions are local.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- columns --------------------------------------------------------------------------------- */

/* The role of a column in comparisons. A result names it key, less, more or info. */
enum bc_role {
    BC_KEY,     /* tells rows apart; equal in every launch */
    BC_RUN_KEY, /* a key that all rows of a run share, unless it is a main column or varies */
    BC_LESS,    /* lower is better */
    BC_MORE,    /* higher is better */
    BC_INFO,    /* not compared: describes the measurement, follows from results, or varies a lot */
    BC_ROLES
};

/* The type of a member of a result struct, which decides how its cell is written. */
enum bc_cell {
    BC_CELL_TEXT,    /* const char *; NULL: NA */
    BC_CELL_CHARS,   /* char[] */
    BC_CELL_INT,     /* int; BC_NO_INT: NA */
    BC_CELL_INTEGER, /* int64_t; BC_NO_INTEGER: NA */
    BC_CELL_REAL,    /* double; not finite: NA */
    BC_CELL_AMOUNT,  /* double, without decimals if it is a whole number */
    BC_CELL_US,      /* double in ns, written in microseconds */
    BC_CELL_TIME     /* BC_CELL_US, never below 0 */
};

#define BC_NO_INT INT_MIN
#define BC_NO_INTEGER INT64_MIN

/* Room for a host's name (256 characters in Open MPI) with a number, and the end of the text. */
#define BC_CELL_LENGTH 320

struct bc_column {
    const char *name; /* without blanks */
    enum bc_role role;
    int places; /* decimals of a real number; otherwise the width in a table, 0 for the default */
    enum bc_cell cell;
    size_t at;         /* offsetof the value in the result struct */
    const char *about; /* the meaning of the value, for people; NULL: none */
};

/* Never defined: for unevaluated expressions only. */
extern void *const bc_no_object;

/* A column of a member of `struct type`, written by the member's type. */
#define BC_COLUMN(name, role, places, type, member)                                                \
    BC_COLUMN_ABOUT(NULL, name, role, places, type, member)

/* A column with a meaning: `# NAME: about`, after the rows of a result for people. */
#define BC_COLUMN_ABOUT(about, name, role, places, type, member)                                     \
    {                                                                                                \
        name, role, places,                                                                        \
            _Generic(((struct type *)bc_no_object)->member, const char *: BC_CELL_TEXT, char *: BC_CELL_CHARS, \
                     int: BC_CELL_INT, int64_t: BC_CELL_INTEGER, double: BC_CELL_REAL),                                              \
            offsetof(struct type, member), about \
    }

/* A column of a double that is not written as BC_CELL_REAL. */
#define BC_COLUMN_AS(cell, name, role, places, type, member)                                       \
    {                                                                                              \
        name, role, places,                                                                        \
            _Generic(((struct type *)bc_no_object)->member, double                                 \
                     : (cell)),                                                                    \
            offsetof(struct type, member), NULL                                                    \
    }

/* The columns x_us, x_lo_us, x_hi_us, x_p99_us and x_max_us of a struct bc_summary of times in ns;
   and all of these except x_us. */
#define BC_TIME_COLUMNS(name, role, decimals, type, member)                                        \
    BC_COLUMN_AS(BC_CELL_TIME, name "_us", role, decimals, type, member.value),                    \
        BC_TIME_RANGE_COLUMNS(name, decimals, type, member)
/* A value in ns with its interval, in cells of type BC_CELL_US or BC_CELL_TIME. */
#define BC_US_COLUMNS(cell, name, role, decimals, type, member)                                    \
    BC_COLUMN_AS(cell, name "_us", role, decimals, type, member.value),                            \
        BC_COLUMN_AS(cell, name "_lo_us", BC_INFO, decimals, type, member.interval.lo),            \
        BC_COLUMN_AS(cell, name "_hi_us", BC_INFO, decimals, type, member.interval.hi)
#define BC_TIME_RANGE_COLUMNS(name, decimals, type, member)                                        \
    BC_COLUMN_AS(BC_CELL_TIME, name "_lo_us", BC_INFO, decimals, type, member.interval.lo),        \
        BC_COLUMN_AS(BC_CELL_TIME, name "_hi_us", BC_INFO, decimals, type, member.interval.hi),    \
        BC_COLUMN_AS(BC_CELL_TIME, name "_p99_us", BC_INFO, decimals, type, member.p99),           \
        BC_COLUMN_AS(BC_CELL_TIME, name "_max_us", BC_INFO, decimals, type, member.max)

/* ---- the end of a row ------------------------------------------------------------------------ */

/* The status of a row; programs add words of their own. */
#define BC_OK "ok"
#define BC_BUDGET "budget" /* the time was up before the precision was reached */
#define BC_FAIL "FAIL"     /* wrong data */

/* The last columns of every row of measurements. */
struct bc_outcome {
    int visits;
    double
        lost_pct; /* the share of time in which ranks were interrupted, mean over ranks, or NAN */
    int64_t samples;
    const char *status;
    int slowest_rank;  /* rank of MPI_COMM_WORLD that was slowest most often */
    const char *align; /* placement of the buffers; NULL: in a window */
};

/* Returns true if the row's data was wrong. */
bool bc_outcome_failed(const struct bc_outcome *outcome);

#define BC_OUTCOME_COLUMNS(type, member)                                                           \
    BC_COLUMN("visits", BC_INFO, 0, type, member.visits),                                          \
        BC_COLUMN("lost_pct", BC_INFO, 1, type, member.lost_pct),                                  \
        BC_COLUMN("samples", BC_INFO, 0, type, member.samples),                                    \
        BC_COLUMN("status", BC_INFO, 0, type, member.status),                                      \
        BC_COLUMN("slowest_rank", BC_INFO, 0, type, member.slowest_rank)

/* ---- tables and remarks ---------------------------------------------------------------------- */

struct bc_table {
    const struct bc_column *columns;
    size_t count;
    const char *main;  /* comma-separated names of the main columns; NULL: all are */
    const char *spare; /* main columns that BC_FORMAT_TABLE leaves out, the last one first, until a
                          line has at most 100 characters; NULL: none */
};

/* Returns the table with a further key in front. It is valid until the process ends, as that of the
   next function. */
const struct bc_table *bc_table_with_key(const struct bc_table *own, struct bc_column key);

/* Returns the table with further columns before `visits`, for a struct at offset `at` of its
   result, and with these main and spare columns. */
const struct bc_table *bc_table_with_columns(const struct bc_table *own,
                                             const struct bc_column *more, size_t more_count,
                                             size_t at, const char *main, const char *spare);

enum bc_format {
    BC_FORMAT_TSV,
    BC_FORMAT_TABLE,
    BC_FORMAT_JSON /* JSON Lines: an object for the metadata, one for each row and each remark */
};

struct bc_output; /* an open result */

/* Writes `# key: value`, in full metadata only. The value is made plain (text.h). The key `note` is
   a remark for the record, not for people. */
void bc_output_meta(struct bc_output *output, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes `# WORD: text` (note, warning, verbose, debug; texts: warnings.h); without metadata
   `PROGRAM: WORD: text` to stderr. With short metadata notes and warnings come after the last row,
   in lines of at most 100 characters. */
void bc_output_remark(struct bc_output *output, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
