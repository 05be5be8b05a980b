/* What the files of common/result/ share. All functions are local. */
#pragma once

#include "common/result/output.h"

/* Writes a column's value in a result struct to a cell of BC_CELL_LENGTH characters: "NA" where
   there is none. */
void bc_cell_format(char *cell, const struct bc_column *column, const void *result);

/* Whether a column is that end, "_lo" or "_hi", of the interval of another one: latency_lo_us of
   latency_us (metrics.c). */
bool bc_column_is_end(const struct bc_column *column, const struct bc_column *of, const char *end);

/* The lines of a result but for its head: tab-separated, or aligned (lines.c). */
struct bc_lines {
    const struct bc_table *table;
    const struct bc_column **shown;
    size_t count;
    bool are_aligned;
    /* Texts that spreadsheets take for dates stand in quotes: where there is no metadata. */
    bool are_quoted;
};

/* Prepares the lines of the columns that the style names, which are all in the table. False without
   memory. bc_lines_free frees what it has made. */
bool bc_lines_prepare(struct bc_lines *lines, const struct bc_table *table,
                      const struct bc_style *style);
void bc_lines_free(struct bc_lines *lines);

/* Writes the header row. */
void bc_lines_write_names(const struct bc_lines *lines, FILE *stream);

/* Writes the row of a result struct. */
void bc_lines_write_row(const struct bc_lines *lines, FILE *stream, const void *result);

/* Writes a result struct, whose type is the one that the table's columns name, as lines of
   BC_FORMAT_METRICS (metrics.c). */
void bc_metrics_write(FILE *stream, const char *program, const struct bc_table *table,
                      const void *result);
