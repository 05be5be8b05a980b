#include "common/result/internal.h"

#include "common/result/text.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
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
    output->borrowed = path == NULL;
    if (path == NULL || (output->stream = fopen(path, "w")) != NULL)
        return output;
    const int reason = errno;
    free(output);
    errno = reason;
    return NULL;
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

int bc_stream_problem(FILE *stream)
{
    struct stat status;
    const int problem = flush_stream(stream);
    /* A file without a name is one that nobody will find: it, or its folder, was removed. */
    const bool went_away =
        fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
    return problem == 0 && went_away ? ENOENT : problem;
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

/* Writes `# WORD: text` to the result, or to stderr if that is without metadata. */
static void write_remark(struct bc_output *output, const char *word, const char *format,
                         va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *const text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text == NULL) {
        output->lost = ENOMEM;
        return;
    }
    vsnprintf(text, (size_t)length + 1, format, arguments);
    bc_make_plain_text(text, ' ');
    if (has_metadata(output))
        fprintf(output->stream, "# %s: %s\n", word, text);
    else
        fprintf(stderr, "%s: %s: %s\n", output->style.program, word, text);
    free(text);
}

void bc_output_meta(struct bc_output *output, const char *key, const char *format, ...)
{
    if (output == NULL || !has_metadata(output))
        return;
    va_list arguments;
    va_start(arguments, format);
    write_remark(output, key, format, arguments);
    va_end(arguments);
}

void bc_output_remark(struct bc_output *output, const char *word, const char *format, ...)
{
    if (output == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    write_remark(output, word, format, arguments);
    va_end(arguments);
    if (has_metadata(output))
        flush(output);
}

/* Writes a cell of the next line. In a table a column is as wide as its name, and at least wide
   enough for usual numbers, the first one for names such as "ireduce_scatter_block"; longer cells
   push the rest to the right. */
static void write_cell(struct bc_output *output, size_t column, const char *text)
{
    enum { FIRST_MIN_WIDTH = 21, MIN_WIDTH = 9 };
    const bool table = output->style.format == BC_FORMAT_TABLE;
    const int name_width = (int)strlen(output->table->columns[column].name);
    const int min_width = column == 0 ? FIRST_MIN_WIDTH : MIN_WIDTH;
    int width = 0;
    if (table)
        width = name_width > min_width ? name_width : min_width;
    fprintf(output->stream, "%*s", width, text);
    if (column + 1 < output->table->count)
        fputs(table ? "  " : "\t", output->stream);
    else
        fputc('\n', output->stream);
}

static const char *const role_names[BC_ROLES] = {
    [BC_KEY] = "key", [BC_LESS] = "less", [BC_MORE] = "more", [BC_INFO] = "info"};

static void write_roles(struct bc_output *output)
{
    fputs("# columns:", output->stream);
    for (size_t i = 0; i < output->table->count; i++) {
        const struct bc_column *const column = &output->table->columns[i];
        fprintf(output->stream, " %s=%s", column->name, role_names[column->role]);
    }
    fputc('\n', output->stream);
}

static void write_names(struct bc_output *output)
{
    for (size_t i = 0; i < output->table->count; i++)
        write_cell(output, i, output->table->columns[i].name);
}

void bc_output_header(struct bc_output *output)
{
    if (output == NULL || output->style.content == BC_ROWS_ONLY)
        return;
    if (has_metadata(output))
        write_roles(output);
    if (output->style.format != BC_FORMAT_METRICS)
        write_names(output);
    flush(output);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void write_cells(struct bc_output *output, const void *result)
{
    for (size_t i = 0; i < output->table->count; i++) {
        char cell[BC_CELL_LENGTH];
        bc_cell_format(cell, &output->table->columns[i], result);
        write_cell(output, i, cell);
    }
}

void bc_output_row(struct bc_output *output, const void *result)
{
    if (output == NULL)
        return;
    if (output->style.format == BC_FORMAT_METRICS)
        bc_metrics_write(output->stream, output->style.program, output->table, result);
    else
        write_cells(output, result);
    flush(output);
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

bool bc_output_good(const struct bc_output *output) { return output == NULL || output->lost == 0; }

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
