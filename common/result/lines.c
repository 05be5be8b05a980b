#include "common/result/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which columns are shown ----------------------------------------------------------------- */

/* The column of this name; NULL if there is none. */
static const struct bc_column *find_column(const struct bc_table *table, const char *name,
                                           size_t length)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct bc_column *const column = &table->columns[i];
        if (strlen(column->name) == length && strncmp(column->name, name, length) == 0)
            return column;
    }
    return NULL;
}

const char *bc_table_lacks(const struct bc_table *table, const char *names, size_t *length)
{
    for (;; names += *length + 1) {
        *length = strcspn(names, ",");
        if (find_column(table, names, *length) == NULL)
            return names;
        if (names[*length] == '\0')
            return NULL;
    }
}

static void show_named(struct bc_lines *lines, const char *names)
{
    for (size_t length; *names != '\0'; names += length + (names[length] != '\0')) {
        length = strcspn(names, ",");
        lines->shown[lines->count++] = find_column(lines->table, names, length);
    }
}

static void show_all(struct bc_lines *lines)
{
    for (size_t i = 0; i < lines->table->count; i++)
        lines->shown[lines->count++] = &lines->table->columns[i];
}

bool bc_lines_prepare(struct bc_lines *lines, const struct bc_table *table,
                      const struct bc_style *style)
{
    size_t max = table->count;
    for (const char *c = style->columns; c != NULL && *c != '\0'; c++)
        max += *c == ','; /* a name may stand there several times */
    *lines = (struct bc_lines){
        .table = table,
        .shown = malloc((max + 1) * sizeof(struct bc_column *)),
        .are_aligned = style->format == BC_FORMAT_TABLE,
        .are_quoted = style->format == BC_FORMAT_TSV && style->content >= BC_WITH_HEADER,
    };
    if (lines->shown == NULL)
        return false;
    if (style->columns != NULL)
        show_named(lines, style->columns);
    else
        show_all(lines);
    return true;
}

void bc_lines_free(struct bc_lines *lines) { free((void *)lines->shown); }

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_text(const struct bc_column *column)
{
    return column->cell == BC_CELL_TEXT || column->cell == BC_CELL_CHARS ||
           column->cell == BC_CELL_STATUS;
}

/* What stands above a column. In a table the ends of an interval, right behind their value, are lo
   and hi. */
static const char *heading(const struct bc_lines *lines, size_t i)
{
    const struct bc_column *const column = lines->shown[i];
    if (lines->are_aligned && i > 0 && bc_column_is_end(column, lines->shown[i - 1], "_lo"))
        return "lo";
    if (lines->are_aligned && i > 1 && bc_column_is_end(column, lines->shown[i - 2], "_hi") &&
        bc_column_is_end(lines->shown[i - 1], lines->shown[i - 2], "_lo"))
        return "hi";
    return column->name;
}

static bool is_integer(const struct bc_column *column)
{
    return column->cell == BC_CELL_INT || column->cell == BC_CELL_INTEGER;
}

/* The width of a column in a table: that of its heading or of usual values. A longer value pushes
   the rest of its line to the right. */
static int width_of(const struct bc_lines *lines, size_t i)
{
    enum { NUMBER_WIDTH = 8, END_WIDTH = 7, STATUS_WIDTH = 8 };
    const struct bc_column *const column = lines->shown[i];
    const char *const name = heading(lines, i);
    int width = NUMBER_WIDTH;
    if (is_text(column) || (is_integer(column) && column->places > 0))
        width = column->places;
    else if (name != column->name)
        width = END_WIDTH;
    if (column->cell == BC_CELL_STATUS)
        width = STATUS_WIDTH;
    return width > (int)strlen(name) ? width : (int)strlen(name);
}

/* Whether a spreadsheet may take a text for a date or another number: 2-3, 1/2, 1,4. In quotes,
   which readers of tab-separated values take off, it stays a text. */
static bool is_like_a_date(const char *text)
{
    return text[0] >= '0' && text[0] <= '9' && strpbrk(text, "-/,:") != NULL &&
           text[strspn(text, "0123456789-/,:.")] == '\0';
}

static void write_cell(const struct bc_lines *lines, FILE *stream, size_t i, const char *text)
{
    const bool is_last = i + 1 == lines->count, is_left = is_text(lines->shown[i]);
    const int width = lines->are_aligned && !(is_last && is_left) ? width_of(lines, i) : 0;
    const char *const quote = lines->are_quoted && is_left && is_like_a_date(text) ? "\"" : "";
    fprintf(stream, "%s%*s%s", quote, is_left ? -width : width, text, quote);
    if (is_last)
        fputc('\n', stream);
    else
        fputs(lines->are_aligned ? "  " : "\t", stream);
}

void bc_lines_write_names(const struct bc_lines *lines, FILE *stream)
{
    for (size_t i = 0; i < lines->count; i++)
        write_cell(lines, stream, i, heading(lines, i));
}

/* That end, "_lo" or "_hi", of a value's interval; NAN without one. */
static double end_of(const struct bc_table *table, const struct bc_column *value, const char *end,
                     const void *result)
{
    for (size_t i = 0; i < table->count; i++) {
        const void *const at = (const char *)result + table->columns[i].at;
        if (bc_column_is_end(&table->columns[i], value, end))
            return *(const double *)at;
    }
    return NAN;
}

/* What a real number is multiplied by before it is written: times in ns are written in us. */
static double factor_of(const struct bc_column *column)
{
    return column->cell == BC_CELL_US || column->cell == BC_CELL_TIME ? 1e-3 : 1.0;
}

/* Writes `< x` to the cell: x is a bound with two digits, rounded up. */
static void format_bound(char *cell, double bound)
{
    const int exponent = (int)floor(log10(bound));
    const double unit = pow(10.0, exponent - 1);
    snprintf(cell, BC_CELL_LENGTH, "< %.*f", exponent < 1 ? 1 - exponent : 0,
             ceil(bound / unit * (1 - 1e-9)) * unit);
}

/* For people: a value that is better less, and whose interval contains 0, becomes a bound. */
static void bound_noise(char *cell, const struct bc_lines *lines, const struct bc_column *column,
                        const void *result)
{
    if (column->role != BC_LESS)
        return;
    const double lo = end_of(lines->table, column, "_lo", result);
    const double hi = end_of(lines->table, column, "_hi", result);
    if (lo <= 0.0 && hi > 0.0 && isfinite(hi))
        format_bound(cell, hi * factor_of(column));
}

/* For people: the column with no more decimals than make five digits. */
static struct bc_column with_few_digits(const struct bc_column *column, const void *result)
{
    enum { DIGITS = 5 };
    struct bc_column few = *column;
    const void *const at = (const char *)result + column->at;
    const double size = !is_text(column) && !is_integer(column)
                            ? fabs(*(const double *)at) * factor_of(column)
                            : 0.0;
    if (size >= 1.0 && isfinite(size)) {
        const double left = fmax(DIGITS - 1 - floor(log10(size)), 0.0); /* for decimals */
        few.places = (int)fmin(few.places, left);
    }
    return few;
}

void bc_lines_write_row(const struct bc_lines *lines, FILE *stream, const void *result)
{
    for (size_t i = 0; i < lines->count; i++) {
        char cell[BC_CELL_LENGTH];
        const struct bc_column column =
            lines->are_aligned ? with_few_digits(lines->shown[i], result) : *lines->shown[i];
        bc_cell_format(cell, &column, result);
        if (lines->are_aligned)
            bound_noise(cell, lines, lines->shown[i], result);
        write_cell(lines, stream, i, cell);
    }
}
