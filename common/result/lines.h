/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a result except those that begin with #. All functions are local. */
#pragma once

#include "common/result/text.h"
#include "common/result/writer.h"

/* Maximum number of characters in a line of a table and of a short head. */
#define BC_LINE_WIDTH 100

struct bc_lines {
    const struct bc_table *table;
    struct bc_style style;
    const struct bc_column **shown;
    size_t count;
    struct bc_text left_out; /* names of main columns that the table has no room for, with commas */
};

/* Prepares the lines of the columns that the style names, which are all in the table. If memory
   runs out, the job ends. The caller frees lines->shown and lines->left_out.start. */
void bc_lines_prepare(struct bc_lines *lines, const struct bc_table *table,
                      const struct bc_style *style);

/* Appends the keys that all rows share and that aren't shown: `direction=send; pair=0`. */
void bc_lines_add_run_keys(const struct bc_lines *lines, const void *result, struct bc_text *text);

/* Writes the header row; nothing with BC_FORMAT_JSON. */
void bc_lines_write_names(const struct bc_lines *lines, FILE *stream);

/* Writes the row of a result struct, of the type that the table's columns name. */
void bc_lines_write_row(const struct bc_lines *lines, FILE *stream, const void *result);
