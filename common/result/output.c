#include "common/result/output.h"

#include "common/result/plain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct bc_output {
    FILE *stream;
    struct bc_style style;
    bool borrowed; /* the stream stays open */
    int lost;      /* errno of what could not be written; 0: nothing */
    int64_t rows;
    const struct bc_table *table;
};

struct bc_output *bc_output_attach(FILE *stream, const struct bc_style *style,
                                   const struct bc_table *table)
{
    struct bc_output *const output = malloc(sizeof *output);
    if (output != NULL)
        *output =
            (struct bc_output){.stream = stream, .style = *style, .borrowed = true, .table = table};
    return output;
}

struct bc_output *bc_output_open(const char *path, const struct bc_style *style,
                                 const struct bc_table *table)
{
    struct bc_output *const output = bc_output_attach(stdout, style, table);
    if (output == NULL)
        return NULL;
    /* Whatever a library has chosen: numbers have a decimal point. */
    setlocale(LC_NUMERIC, "C");
    if (path == NULL)
        return output;
    output->stream = fopen(path, "w");
    output->borrowed = false;
    if (output->stream == NULL) {
        const int reason = errno;
        free(output);
        errno = reason;
        return NULL;
    }
    return output;
}

/* 0, or what errno says. */
static int flush_stream(FILE *stream)
{
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream))
        return 0;
    /* What made an earlier write fail may not be known any more. */
    return errno != 0 ? errno : EIO;
}

/* A file without a name is one that nobody will find: it, or its folder, was removed. */
static bool went_away(FILE *stream)
{
    struct stat status;
    return fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
}

int bc_stream_problem(FILE *stream)
{
    const int problem = flush_stream(stream);
    return problem == 0 && went_away(stream) ? ENOENT : problem;
}

/* The first problem counts. */
static void flush(struct bc_output *output)
{
    const int problem =
        output->borrowed ? flush_stream(output->stream) : bc_stream_problem(output->stream);
    if (output->lost == 0)
        output->lost = problem;
}

static bool has_metadata(const struct bc_output *output)
{
    return output->style.content == BC_WITH_METADATA;
}

/* A text of one line, freed by the caller. NULL without memory; the output is lost then. */
static char *make_text(struct bc_output *output, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *const text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text == NULL) {
        output->lost = ENOMEM;
        return NULL;
    }
    vsnprintf(text, (size_t)length + 1, format, arguments);
    bc_make_plain_text(text, ' ');
    return text;
}

void bc_output_meta(struct bc_output *output, const char *key, const char *format, ...)
{
    if (output == NULL || !has_metadata(output))
        return;
    va_list arguments;
    va_start(arguments, format);
    char *const text = make_text(output, format, arguments);
    va_end(arguments);
    if (text == NULL)
        return;
    fprintf(output->stream, "# %s: %s\n", key, text);
    free(text);
}

void bc_output_remark(struct bc_output *output, const char *word, const char *format, ...)
{
    if (output == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    char *const text = make_text(output, format, arguments);
    va_end(arguments);
    if (text == NULL)
        return;
    if (has_metadata(output)) {
        fprintf(output->stream, "# %s: %s\n", word, text);
        flush(output);
    } else {
        fprintf(stderr, "%s: %s: %s\n", output->style.program, word, text);
    }
    free(text);
}

/* One line of cells. In a table a column is as wide as its name, and at least
   wide enough for usual numbers, the first one for names such as
   "ireduce_scatter_block"; longer cells push the rest to the right. */
static void write_cells(struct bc_output *output, const char *(*cell)(const void *, size_t),
                        const void *source)
{
    enum { FIRST_WIDTH = 21, LEAST_WIDTH = 9 };
    for (size_t i = 0; i < output->table->count; i++) {
        const bool last = i + 1 == output->table->count;
        const char *const text = cell(source, i);
        if (output->style.format == BC_FORMAT_TSV) {
            fprintf(output->stream, "%s%s", text, last ? "\n" : "\t");
        } else {
            const int name_width = (int)strlen(output->table->columns[i].name);
            const int least_width = i == 0 ? FIRST_WIDTH : LEAST_WIDTH;
            fprintf(output->stream, "%*s%s", name_width > least_width ? name_width : least_width,
                    text, last ? "\n" : "  ");
        }
    }
    flush(output);
}

static const char *name_cell(const void *table, size_t i)
{
    return ((const struct bc_table *)table)->columns[i].name;
}

/* The cells of a row. */
struct cells {
    char text[BC_COLUMNS_MAX][BC_CELL_LENGTH];
};

static const char *row_cell(const void *cells, size_t i)
{
    return ((const struct cells *)cells)->text[i];
}

const char *const bc_role_names[BC_ROLES] = {
    [BC_KEY] = "key", [BC_LESS] = "less", [BC_MORE] = "more", [BC_INFO] = "info"};

static void write_roles(struct bc_output *output)
{
    fputs("# columns:", output->stream);
    for (size_t i = 0; i < output->table->count; i++) {
        const struct bc_column *const column = &output->table->columns[i];
        fprintf(output->stream, " %s=%s", column->name, bc_role_names[column->role]);
    }
    fputc('\n', output->stream);
}

void bc_output_header(struct bc_output *output)
{
    if (output == NULL || output->style.content == BC_ROWS_ONLY)
        return;
    if (has_metadata(output))
        write_roles(output);
    write_cells(output, name_cell, output->table);
}

/* ---- cells ----------------------------------------------------------------------------------- */

const char *const bc_status_names[BC_STATUSES] = {
    [BC_OK] = "ok",           [BC_BUDGET] = "budget",
    [BC_NO_KNEE] = "no-knee", [BC_MAX_SIZE] = "max-size",
    [BC_FAIL] = "FAIL",
};

static void write_text(char *cell, const char *text)
{
    snprintf(cell, BC_CELL_LENGTH, "%s", text);
    bc_make_plain_text(cell, '_');
    for (char *c = cell; *c != '\0'; c++)
        if (*c == '#' || *c == '"')
            *c = '_';
}

static void write_real(char *cell, double value, int decimals)
{
    if (!isfinite(value)) {
        strcpy(cell, "NA");
        return;
    }
    snprintf(cell, BC_CELL_LENGTH, fabs(value) < 1e15 ? "%.*f" : "%.*e", decimals, value);
    /* A tiny negative number that rounds to nothing is not "-0.00". */
    if (cell[0] == '-' && strspn(cell, "-0.") == strlen(cell))
        memmove(cell, cell + 1, strlen(cell));
}

static void write_integer(char *cell, int64_t value, int64_t none)
{
    if (value == none)
        strcpy(cell, "NA");
    else
        snprintf(cell, BC_CELL_LENGTH, "%" PRId64, value);
}

static void write_cell(char *cell, const struct bc_column *column, const void *result)
{
    const void *const at = (const char *)result + column->at;
    switch (column->cell) {
    case BC_CELL_TEXT: {
        const char *const text = *(const char *const *)at;
        write_text(cell, text != NULL ? text : "NA");
        return;
    }
    case BC_CELL_CHARS:
        write_text(cell, at);
        return;
    case BC_CELL_INT:
        write_integer(cell, *(const int *)at, BC_NO_INT);
        return;
    case BC_CELL_INTEGER:
        write_integer(cell, *(const int64_t *)at, BC_NO_INTEGER);
        return;
    case BC_CELL_STATUS:
        write_text(cell, bc_status_names[*(const enum bc_status *)at]);
        return;
    default:
        break;
    }
    double value = *(const double *)at;
    if (column->cell == BC_CELL_US || column->cell == BC_CELL_TIME)
        value *= 1e-3;
    /* An operation that the clock can't see took no time, not less. */
    if (column->cell == BC_CELL_TIME && value < 0.0)
        value = 0.0;
    const bool whole = column->cell == BC_CELL_AMOUNT && value == floor(value);
    write_real(cell, value, whole ? 0 : column->decimals);
}

void bc_output_row(struct bc_output *output, const void *result)
{
    if (output == NULL)
        return;
    struct cells cells = {{""}};
    const struct bc_table *const table = output->table;
    if (table->count > BC_COLUMNS_MAX)
        abort(); /* a table that the program itself made up */
    for (size_t i = 0; i < table->count; i++)
        write_cell(cells.text[i], &table->columns[i], result);
    write_cells(output, row_cell, &cells);
    output->rows++;
}

enum bc_status bc_table_status(const struct bc_table *table, const void *result)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].cell == BC_CELL_STATUS)
            return *(const enum bc_status *)((const char *)result + table->columns[i].at);
    return BC_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

void bc_output_end(struct bc_output *output, int status)
{
    if (output == NULL || !has_metadata(output) || output->lost != 0)
        return;
    fprintf(output->stream, "# end: %" PRId64 " row%s, exit %d\n", output->rows,
            output->rows == 1 ? "" : "s", status);
    flush(output);
}

bool bc_output_good(const struct bc_output *output)
{
    return output == NULL || output->lost == 0;
}

bool bc_output_close(struct bc_output *output)
{
    if (output == NULL)
        return true;
    flush(output);
    int problem = output->lost;
    if (!output->borrowed && fclose(output->stream) != 0 && problem == 0)
        problem = errno;
    free(output);
    errno = problem;
    return problem == 0;
}
