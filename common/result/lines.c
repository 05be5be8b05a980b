/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/result/lines.h"

#include "common/memory/allocate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- cells ----------------------------------------------------------------------------------- */

static const void *value_at(const struct bc_column *column, const void *result)
{
    return (const char *)result + column->at;
}

/* Returns a real number in the unit in which it is written: times in ns are written in us. */
static double real_value(const struct bc_column *column, const void *result)
{
    const bool is_time = column->cell == BC_CELL_US || column->cell == BC_CELL_TIME;
    return *(const double *)value_at(column, result) * (is_time ? 1e-3 : 1.0);
}

static void format_text(char *cell, const char *text)
{
    snprintf(cell, BC_CELL_LENGTH, "%s", text);
    bc_make_plain_text(cell, '_');
    for (char *c = cell; *c != '\0'; c++)
        if (*c == '#' || *c == '"')
            *c = '_';
}

static void format_real(char *cell, const struct bc_column *column, double value)
{
    /* A time too short for the clock is 0, not negative. */
    if (column->cell == BC_CELL_TIME && value < 0.0)
        value = 0.0;
    if (!isfinite(value))
        return;
    const bool whole = column->cell == BC_CELL_AMOUNT && value == floor(value);
    snprintf(cell, BC_CELL_LENGTH, fabs(value) < 1e15 ? "%.*f" : "%.*e", whole ? 0 : column->places,
             value);
    /* Removes the sign of a negative number that is rounded to 0, such as "-0.00". */
    if (cell[0] == '-' && strspn(cell, "-0.") == strlen(cell))
        memmove(cell, cell + 1, strlen(cell));
}

/* Writes a column's value to a cell of BC_CELL_LENGTH characters, or, returning false, "NA". */
static bool format_cell(char *cell, const struct bc_column *column, const void *result)
{
    const void *const at = value_at(column, result);
    snprintf(cell, BC_CELL_LENGTH, "NA");
    switch (column->cell) {
    case BC_CELL_TEXT:
        if (*(const char *const *)at != NULL)
            format_text(cell, *(const char *const *)at);
        break;
    case BC_CELL_CHARS:
        format_text(cell, at);
        break;
    case BC_CELL_INT:
        if (*(const int *)at != BC_NO_INT)
            snprintf(cell, BC_CELL_LENGTH, "%d", *(const int *)at);
        break;
    case BC_CELL_INTEGER:
        if (*(const int64_t *)at != BC_NO_INTEGER)
            snprintf(cell, BC_CELL_LENGTH, "%" PRId64, *(const int64_t *)at);
        break;
    default:
        format_real(cell, column, real_value(column, result));
    }
    return strcmp(cell, "NA") != 0;
}

/* ---- quantities and their intervals ---------------------------------------------------------- */

/* The ends of column names, and their units. */
static const struct unit {
    const char *end, *name;
} units[] = {
    {"_per_s", "1/s"}, {"_us", "us"}, {"_ns", "ns"},    {"_ms", "ms"},   {"_s", "s"},
    {"_pct", "%"},     {"(%)", "%"},  {"_mbs", "MB/s"}, {"_bytes", "B"},
};

/* Returns the length of a column's name without its unit. Some specifications name times without a
   unit. */
static size_t split(const struct bc_column *column, const char **unit)
{
    const size_t length = strlen(column->name);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t end = strlen(units[i].end);
        if (length > end && strcmp(column->name + length - end, units[i].end) == 0) {
            *unit = units[i].name;
            return length - end;
        }
    }
    *unit = column->cell == BC_CELL_US ? "us" : "1";
    return length;
}

/* Returns true if a column is this end, "_lo" or "_hi", of the interval of column `of`:
   latency_lo_us of latency_us. */
static bool is_end(const struct bc_column *column, const struct bc_column *of, const char *end)
{
    const char *unit, *own;
    const size_t length = split(of, &unit), own_length = split(column, &own);
    return own_length == length + strlen(end) && strncmp(column->name, of->name, length) == 0 &&
           strncmp(column->name + length, end, strlen(end)) == 0 && strcmp(own, unit) == 0;
}

/* Returns this end of a column's interval, or NULL if there is none. */
static const struct bc_column *find_end(const struct bc_table *table, const struct bc_column *of,
                                        const char *end)
{
    for (size_t i = 0; i < table->count; i++)
        if (is_end(&table->columns[i], of, end))
            return &table->columns[i];
    return NULL;
}

/* ---- shown columns --------------------------------------------------------------------------- */

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

static bool is_status(const struct bc_column *column)
{
    return column->cell == BC_CELL_TEXT && strcmp(column->name, "status") == 0;
}

bool bc_table_failed(const struct bc_table *table, const void *result)
{
    for (size_t i = 0; i < table->count; i++)
        if (is_status(&table->columns[i])) {
            const char *const status = *(const char *const *)value_at(&table->columns[i], result);
            return status != NULL && strcmp(status, BC_FAIL) == 0;
        }
    return false;
}

static bool is_shown(const struct bc_lines *lines, const struct bc_column *column)
{
    size_t i = 0;
    while (i < lines->count && lines->shown[i] != column)
        i++;
    return i < lines->count;
}

/* Returns true if a name is in a comma-separated list (NULL: an empty list). */
static bool is_listed(const char *names, const char *name)
{
    const size_t own = strlen(name);
    while (names != NULL && *names != '\0') {
        const size_t length = strcspn(names, ",");
        if (own == length && strncmp(names, name, length) == 0)
            return true;
        names += length + (names[length] == ',');
    }
    return false;
}

void bc_lines_add_run_keys(const struct bc_lines *lines, const void *result, struct bc_text *text)
{
    for (size_t i = 0; i < lines->table->count; i++) {
        const struct bc_column *const column = &lines->table->columns[i];
        char cell[BC_CELL_LENGTH];
        if (column->role != BC_RUN_KEY || is_shown(lines, column) ||
            is_listed(lines->style.varying, column->name) ||
            is_listed(lines->table->main, column->name))
            continue;
        format_cell(cell, column, result);
        bc_text_append(text, "%s%s=%s", text->length > 0 ? "; " : "", column->name, cell);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_text(const struct bc_column *column)
{
    return column->cell == BC_CELL_TEXT || column->cell == BC_CELL_CHARS;
}

static bool are_aligned(const struct bc_lines *lines)
{
    return lines->style.format == BC_FORMAT_TABLE;
}

/* Returns the heading of a column: in a table lo and hi if the interval follows its value. */
static const char *heading(const struct bc_lines *lines, size_t i)
{
    const struct bc_column *const *const column = &lines->shown[i];
    if (are_aligned(lines) && i > 0 && is_end(column[0], column[-1], "_lo"))
        return "lo";
    if (are_aligned(lines) && i > 1 && is_end(column[0], column[-2], "_hi") &&
        is_end(column[-1], column[-2], "_lo"))
        return "hi";
    return column[0]->name;
}

static bool is_integer(const struct bc_column *column)
{
    return column->cell == BC_CELL_INT || column->cell == BC_CELL_INTEGER;
}

/* Returns the width of a column in a table: that of its heading or of usual values. */
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
    if (is_status(column))
        width = STATUS_WIDTH;
    return width > (int)strlen(name) ? width : (int)strlen(name);
}

/* Returns the max width of a line of a table. */
static int width_of_line(const struct bc_lines *lines)
{
    int width = 0;
    for (size_t i = 0; i < lines->count; i++)
        width += (i > 0 ? 2 : 0) + width_of(lines, i);
    return width;
}

/* Moves the ends of each interval right after its value. */
static void gather_intervals(struct bc_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        for (int side = 0; side < 2; side++) /* the high end first; the low end then shifts it */
            for (size_t j = i + 2; j < lines->count; j++) {
                const struct bc_column *const column = lines->shown[j];
                if (!is_end(column, lines->shown[i], side == 0 ? "_hi" : "_lo"))
                    continue;
                memmove(&lines->shown[i + 2], &lines->shown[i + 1], (j - i - 1) * sizeof(void *));
                lines->shown[i + 1] = column;
            }
}

/* Leaves out the last spare column. False if there is none. */
static bool leave_out(struct bc_lines *lines)
{
    size_t i = lines->count;
    while (i > 0 && !is_listed(lines->style.spare, lines->shown[i - 1]->name))
        i--;
    if (i == 0)
        return false;
    bc_text_append(&lines->left_out, "%s%s", lines->left_out.length > 0 ? ", " : "",
                   lines->shown[i - 1]->name);
    for (; i < lines->count; i++)
        lines->shown[i - 1] = lines->shown[i];
    lines->count--;
    return true;
}

void bc_lines_prepare(struct bc_lines *lines, const struct bc_table *table,
                      const struct bc_style *style)
{
    const size_t max = table->count;
    *lines = (struct bc_lines){
        .table = table,
        .style = *style,
        .shown = bc_allocate(max, sizeof(struct bc_column *), "no memory for %zu columns", max),
    };
    for (size_t i = 0; style->columns == NULL && i < table->count; i++)
        lines->shown[lines->count++] = &table->columns[i];
    for (const char *name = style->columns; name != NULL && *name != '\0'; name += *name == ',') {
        const size_t length = strcspn(name, ",");
        const struct bc_column *const column = find_column(table, name, length);
        if (!is_shown(lines, column)) /* `main` and a name may select the same column */
            lines->shown[lines->count++] = column;
        name += length;
    }
    if (are_aligned(lines))
        gather_intervals(lines);
    while (are_aligned(lines) && width_of_line(lines) > BC_LINE_WIDTH && leave_out(lines))
        continue;
}

/* Returns true if a spreadsheet may take a text for a date or a different number: 2-3, 1/2, 1,4.
   Quotes keep it a text; readers of tab-separated values remove them. */
static bool is_like_a_date(const char *text)
{
    return text[0] >= '0' && text[0] <= '9' && strpbrk(text, "-/,:") != NULL &&
           text[strspn(text, "0123456789-/,:.")] == '\0';
}

/* Writes a cell. `late` is the number of characters by which earlier values exceeded their columns
   of a table; the blanks of this cell are reduced by it. */
static void write_cell(const struct bc_lines *lines, FILE *stream, size_t i, const char *text,
                       int *late)
{
    const bool is_last = i + 1 == lines->count, is_left = is_text(lines->shown[i]);
    const int whole = are_aligned(lines) && !(is_last && is_left) ? width_of(lines, i) : 0;
    const int length = (int)strlen(text), width = whole > *late ? whole - *late : 0;
    *late += (length > width ? length : width) - whole;
    /* Without metadata the lines may be for a spreadsheet. */
    const bool is_bare =
        lines->style.format == BC_FORMAT_TSV && lines->style.content >= BC_WITH_HEADER;
    const char *const quote = is_bare && is_left && is_like_a_date(text) ? "\"" : "";
    const char *const behind = is_last ? "\n" : are_aligned(lines) ? "  " : "\t";
    fprintf(stream, "%s%*s%s%s", quote, is_left ? -width : width, text, quote, behind);
}

void bc_lines_write_names(const struct bc_lines *lines, FILE *stream)
{
    int late = 0;
    for (size_t i = 0; lines->style.format != BC_FORMAT_JSON && i < lines->count; i++)
        write_cell(lines, stream, i, heading(lines, i), &late);
}

/* Replaces a value that noise could have made by a bound, `< x`, where x has two digits, rounded
   up: if lower is better and the interval contains 0. */
static void bound_noise(char *cell, const struct bc_table *table, const struct bc_column *column,
                        const void *result)
{
    const struct bc_column *const lo = find_end(table, column, "_lo");
    const struct bc_column *const hi = find_end(table, column, "_hi");
    if (column->role != BC_LESS || lo == NULL || hi == NULL || !(real_value(lo, result) <= 0.0))
        return;
    const double bound = real_value(hi, result);
    if (!(bound > 0.0) || !isfinite(bound))
        return;
    const int exponent = (int)floor(log10(bound));
    const double unit = pow(10.0, exponent - 1);
    snprintf(cell, BC_CELL_LENGTH, "< %.*f", exponent < 1 ? 1 - exponent : 0,
             ceil(bound / unit * (1 - 1e-9)) * unit);
}

/* Returns the column with at most the decimals that five digits allow. */
static struct bc_column with_few_digits(const struct bc_column *column, const void *result)
{
    enum { DIGITS = 5 };
    struct bc_column few = *column;
    const double size =
        !is_text(column) && !is_integer(column) ? fabs(real_value(column, result)) : 0.0;
    if (size >= 1.0 && isfinite(size)) {
        const double left = fmax(DIGITS - 1 - floor(log10(size)), 0.0); /* for decimals */
        few.places = (int)fmin(few.places, left);
    }
    return few;
}

/* Writes a row as a JSON object; a missing value is null. */
static void write_object(const struct bc_lines *lines, FILE *stream, const void *result)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct bc_column *const column = lines->shown[i];
        char cell[BC_CELL_LENGTH];
        const bool has_value = format_cell(cell, column, result);
        fputs(i == 0 ? "{" : ", ", stream);
        bc_print_json(stream, column->name);
        fputs(": ", stream);
        if (has_value && is_text(column))
            bc_print_json(stream, cell);
        else
            fputs(has_value ? cell : "null", stream);
    }
    fputs("}\n", stream);
}

void bc_lines_write_row(const struct bc_lines *lines, FILE *stream, const void *result)
{
    if (lines->style.format == BC_FORMAT_JSON) {
        write_object(lines, stream, result);
        return;
    }
    int late = 0;
    for (size_t i = 0; i < lines->count; i++) {
        char cell[BC_CELL_LENGTH];
        const struct bc_column *const shown = lines->shown[i];
        const struct bc_column column =
            are_aligned(lines) ? with_few_digits(shown, result) : *shown;
        format_cell(cell, &column, result);
        if (are_aligned(lines))
            bound_noise(cell, lines->table, shown, result);
        write_cell(lines, stream, i, cell, &late);
    }
}
