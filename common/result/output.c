/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/result/output.h"

#include "common/memory/allocate.h"
#include "common/result/lines.h"
#include "common/result/warnings.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Number of characters in a line of short metadata. */
enum { TERMINAL = BC_LINE_WIDTH };

/* Size of a file's buffer: more than a usual header, so that only a flush writes and can fail. */
enum { BUFFER_BYTES = 1 << 16 };

struct bc_output {
    FILE *stream;
    char *buffer; /* the stream's; NULL: the C library allocates it */
    struct bc_lines lines;
    bool borrowed;     /* the stream stays open */
    int lost;          /* errno of the first lost line; 0: none */
    FILE *behind_rows; /* remarks that come after the last row; NULL: none so far */
    char *behind_text;
    size_t behind_length;
    int64_t rows;
    FILE *members; /* of the metadata's JSON object, which is written as the header; NULL:
                      none so far */
    bool has_header;
    char *members_text;
    size_t members_length;
    bool in_list;           /* the last member is an array that more lines may extend */
    bool waits;             /* the header waits for the first row */
    int64_t disturbed;      /* number of disturbed rows that no line has reported */
    int64_t last_disturbed; /* the number of the last of these rows */
    double max_waited_pct;  /* of these rows */
};

struct bc_output *bc_output_attach(FILE *stream, const struct bc_style *style,
                                   const struct bc_table *table)
{
    struct bc_output *const output = bc_allocate(1, sizeof *output, "no memory for a result");
    *output = (struct bc_output){.stream = stream, .borrowed = true};
    bc_lines_prepare(&output->lines, table, style);
    return output;
}

struct bc_output *bc_output_open(const char *path, const struct bc_style *style,
                                 const struct bc_table *table)
{
    FILE *const stream = path != NULL ? fopen(path, "w") : stdout;
    if (stream == NULL)
        return NULL;
    /* Numbers have a decimal point, whatever locale a library has chosen. */
    setlocale(LC_NUMERIC, "C");
    struct bc_output *const output = bc_output_attach(stream, style, table);
    output->borrowed = path == NULL;
    if (path != NULL) {
        output->buffer = bc_allocate(1, BUFFER_BYTES, "no memory for a result");
        (void)setvbuf(stream, output->buffer, _IOFBF, BUFFER_BYTES);
    }
    return output;
}

/* Flushes. Returns 0 if nothing is lost, else errno. */
static int flush_stream(FILE *stream)
{
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream))
        return 0;
    /* The errno of an earlier write may be lost. */
    return errno != 0 ? errno : EIO;
}

int bc_stream_problem(FILE *stream)
{
    struct stat status;
    const int problem = flush_stream(stream);
    /* A file without a link was removed, maybe with its folder. */
    const bool went_away =
        fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
    return problem == 0 && went_away ? ENOENT : problem;
}

/* Flushes, and keeps the first problem. */
static void flush(struct bc_output *output)
{
    const int problem =
        output->borrowed ? flush_stream(output->stream) : bc_stream_problem(output->stream);
    if (output->lost == 0)
        output->lost = problem;
}

static bool has_metadata(const struct bc_output *output)
{
    return output->lines.style.content <= BC_WITH_SHORT_METADATA;
}

/* Returns the stream for a line with this word. With short metadata, notes and warnings wait for
   the last row, unless memory has run out. */
static FILE *stream_of(struct bc_output *output, const char *word)
{
    const bool waits = output->lines.style.content == BC_WITH_SHORT_METADATA &&
                       (strcmp(word, "note") == 0 || strcmp(word, "warning") == 0);
    if (waits && output->behind_rows == NULL)
        output->behind_rows = open_memstream(&output->behind_text, &output->behind_length);
    return waits && output->behind_rows != NULL ? output->behind_rows : output->stream;
}

static bool is_json(const struct bc_output *output)
{
    return output->lines.style.format == BC_FORMAT_JSON;
}

/* Writes `"key": "text"`. */
static void write_member(FILE *stream, const char *key, const char *text)
{
    bc_print_json(stream, key);
    fputs(": ", stream);
    bc_print_json(stream, text);
}

/* Writes an object with one member. */
static void write_object(FILE *stream, const char *word, const char *text)
{
    fputc('{', stream);
    write_member(stream, word, text);
    fputs("}\n", stream);
}

/* Begins a member of the metadata's object. Returns the stream for it. */
static FILE *next_member(struct bc_output *output)
{
    if (output->members != NULL)
        fputs(output->in_list ? "], " : ", ", output->members);
    else
        output->members = open_memstream(&output->members_text, &output->members_length);
    output->in_list = false;
    return output->members;
}

/* Writes the object of the metadata. */
static void write_members(struct bc_output *output)
{
    if (output->members == NULL)
        return;
    if (output->in_list)
        fputc(']', output->members);
    if (fclose(output->members) != 0 || output->members_text == NULL)
        output->lost = ENOMEM;
    else
        fprintf(output->stream, "{\"metadata\": {%s}}\n", output->members_text);
    free(output->members_text);
    output->members = NULL;
}

/* Writes `# WORD: text`, or in JSON an object; with short metadata in lines for a terminal, except
   verbose and debug output, which scripts read. */
static void write_line(struct bc_output *output, const char *word, const char *text)
{
    FILE *const stream = stream_of(output, word);
    if (is_json(output)) {
        write_object(stream, word, text);
        return;
    }
    const int column = fprintf(stream, "# %s: ", word);
    const bool is_for_machines = strcmp(word, "verbose") == 0 || strcmp(word, "debug") == 0;
    if (output->lines.style.content == BC_WITH_SHORT_METADATA && !is_for_machines)
        bc_print_wrapped(stream, text, (size_t)column, TERMINAL, "#   ");
    else
        fprintf(stream, "%s\n", text);
}

static void write_waiting(struct bc_output *output)
{
    if (output->behind_rows == NULL)
        return;
    if (fclose(output->behind_rows) != 0 || output->behind_text == NULL)
        output->lost = ENOMEM;
    else
        fputs(output->behind_text, output->stream);
    free(output->behind_text);
    output->behind_rows = NULL;
}

/* Writes `# WORD: text` to the result and flushes, or to stderr if the result is without metadata.
 */
static void write_remark(struct bc_output *output, const char *word, const char *format,
                         va_list arguments)
{
    struct bc_text text = {0};
    bc_text_append_list(&text, format, arguments);
    bc_make_plain_text(text.start, ' ');
    if (has_metadata(output)) {
        write_line(output, word, text.start);
        flush(output);
    } else {
        fprintf(stderr, "%s: %s: %s\n", output->lines.style.program, word, text.start);
    }
    free(text.start);
}

static void add_member(struct bc_output *output, const char *key, const char *format,
                       va_list arguments)
{
    struct bc_text text = {0};
    bc_text_append_list(&text, format, arguments);
    bc_make_plain_text(text.start, ' ');
    /* The only key of several lines, which follow one another. */
    const bool is_listed = strcmp(key, "mpi_variable") == 0, goes_on = is_listed && output->in_list;
    FILE *const stream = goes_on ? output->members : next_member(output);
    if (stream != NULL) {
        if (goes_on)
            fputs(", ", stream);
        else
            fprintf(stream, "\"%s\": %s", key, is_listed ? "[" : "");
        bc_print_json(stream, text.start);
        output->in_list = is_listed;
    }
    free(text.start);
}

void bc_output_meta(struct bc_output *output, const char *key, const char *format, ...)
{
    if (output == NULL || output->lines.style.content != BC_WITH_METADATA)
        return;
    va_list arguments;
    va_start(arguments, format);
    if (is_json(output) && !output->has_header)
        add_member(output, key, format, arguments);
    else
        write_remark(output, key, format, arguments);
    va_end(arguments);
}

void bc_output_short_meta(struct bc_output *output, int lines, const char *key, const char *format,
                          ...)
{
    if (output == NULL || output->lines.style.content != BC_WITH_SHORT_METADATA)
        return;
    char text[2 * TERMINAL];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* Lines are broken between words, so some of this room stays unused. */
    const int room = lines * TERMINAL - (int)strlen(key) - (lines > 1 ? TERMINAL / 4 : 4);
    if (length > room)
        strcpy(text + room - 3, "...");
    bc_make_plain_text(text, ' ');
    write_line(output, key, text);
}

void bc_output_remark(struct bc_output *output, const char *word, const char *format, ...)
{
    if (output == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    write_remark(output, word, format, arguments);
    va_end(arguments);
}

void bc_output_disturbed(struct bc_output *output, double waited_pct, const char *format, ...)
{
    if (output == NULL)
        return;
    if (output->lines.style.content == BC_WITH_SHORT_METADATA) {
        output->disturbed += output->last_disturbed != output->rows + 1;
        output->last_disturbed = output->rows + 1;
        output->max_waited_pct = fmax(output->max_waited_pct, waited_pct);
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    write_remark(output, "warning", format, arguments);
    va_end(arguments);
}

/* The name of a role in `# columns:`, and its words in that of a short head (NULL: left out). */
static const struct {
    const char *name, *words;
} roles[BC_ROLES] = {[BC_KEY] = {"key", "keys: "},
                     [BC_RUN_KEY] = {"key", NULL},
                     [BC_LESS] = {"less", "less is better: "},
                     [BC_MORE] = {"more", "more is better: "},
                     [BC_INFO] = {"info", NULL}};

static void write_roles_in_json(struct bc_output *output)
{
    FILE *const stream = next_member(output);
    if (stream == NULL)
        return;
    fputs("\"columns\": {", stream);
    for (size_t i = 0; i < output->lines.count; i++) {
        fputs(i > 0 ? ", " : "", stream);
        write_member(stream, output->lines.shown[i]->name,
                     roles[output->lines.shown[i]->role].name);
    }
    fputc('}', stream);
}

static void write_roles(struct bc_output *output)
{
    struct bc_text text = {0};
    for (size_t i = 0; i < output->lines.count; i++) {
        const struct bc_column *const column = output->lines.shown[i];
        bc_text_append(&text, "%s%s=%s", text.length > 0 ? " " : "", column->name,
                       roles[column->role].name);
    }
    write_line(output, "columns", text.start);
    free(text.start);
}

/* Writes the roles in words, with the keys that no column shows. */
static void write_words(struct bc_output *output, const void *result)
{
    struct bc_text keys = {0}, text = {0};
    if (result != NULL)
        bc_lines_add_run_keys(&output->lines, result, &keys);
    if (keys.length > 0)
        write_line(output, "all_rows", keys.start);
    for (int role = 0; role < BC_ROLES; role++) {
        const char *before = text.length > 0 ? "; " : "", *words = roles[role].words;
        for (size_t i = 0; words != NULL && i < output->lines.count; i++) {
            const struct bc_column *const column = output->lines.shown[i];
            const int own = column->role == BC_RUN_KEY ? BC_KEY : (int)column->role;
            if (own != role)
                continue;
            bc_text_append(&text, "%s%s%s", before, words, column->name);
            before = ", ";
            words = "";
        }
    }
    write_line(output, "columns", text.length > 0 ? text.start : "not compared");
    free(keys.start);
    free(text.start);
}

/* Writes the lines that have waited for the first row, or for the end of a result without rows. */
static void write_waiting_header(struct bc_output *output, const void *result)
{
    if (!output->waits)
        return;
    output->waits = false;
    write_words(output, result);
    bc_lines_write_names(&output->lines, output->stream);
}

void bc_output_header(struct bc_output *output)
{
    if (output == NULL || output->lines.style.content == BC_ROWS_ONLY)
        return;
    output->waits = output->lines.style.content == BC_WITH_SHORT_METADATA;
    if (output->lines.style.content == BC_WITH_METADATA && is_json(output))
        write_roles_in_json(output);
    else if (output->lines.style.content == BC_WITH_METADATA)
        write_roles(output);
    write_members(output);
    output->has_header = true;
    if (!output->waits)
        bc_lines_write_names(&output->lines, output->stream);
    flush(output);
    if (output->lines.left_out.length > 0)
        bc_output_remark(output, BC_NOTE_LEFT_OUT, output->lines.left_out.start);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Returns a copy of the table, of which the caller may change the columns, with room for
   more_count more. */
static struct bc_column *copy_table(const struct bc_table *own, size_t more_count,
                                    const struct bc_table **copy)
{
    /* Kept until the program ends, which may be at any time. */
    static struct made {
        struct bc_table table;
        struct made *former;
    } * newest;
    struct made *const made = bc_allocate(1, sizeof *made, "no memory for a table");
    struct bc_column *const columns =
        bc_allocate(own->count + more_count, sizeof *columns, "no memory for a table");
    *made = (struct made){{columns, own->count + more_count, own->main, own->spare}, newest};
    newest = made;
    *copy = &made->table;
    return columns;
}

const struct bc_table *bc_table_with_key(const struct bc_table *own, struct bc_column key)
{
    const struct bc_table *copy;
    struct bc_column *const columns = copy_table(own, 1, &copy);
    columns[0] = key;
    memcpy(columns + 1, own->columns, own->count * sizeof *columns);
    return copy;
}

const struct bc_table *bc_table_with_columns(const struct bc_table *own,
                                             const struct bc_column *more, size_t more_count,
                                             size_t at, const char *main, const char *spare)
{
    const struct bc_table with_main = {own->columns, own->count, main, spare};
    const struct bc_table *copy;
    struct bc_column *next = copy_table(&with_main, more_count, &copy);
    for (size_t i = 0; i < own->count; i++) {
        if (strcmp(own->columns[i].name, "visits") == 0)
            for (size_t j = 0; j < more_count; j++, next++) {
                *next = more[j];
                next->at += at;
            }
        *next++ = own->columns[i];
    }
    return copy;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void bc_output_row(struct bc_output *output, const void *result)
{
    if (output == NULL)
        return;
    write_waiting_header(output, result);
    bc_lines_write_row(&output->lines, output->stream, result);
    flush(output);
    output->rows++;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void write_disturbed(struct bc_output *output)
{
    char much[64] = "";
    if (output->disturbed == 0)
        return;
    if (output->max_waited_pct > 0.0)
        snprintf(much, sizeof much, ", up to %.0f %% of the time", output->max_waited_pct);
    bc_output_remark(output, BC_WARNING_DISTURBED, (long long)output->disturbed,
                     (long long)output->rows, much);
}

static void write_meanings(struct bc_output *output)
{
    const bool is_short = output->lines.style.content == BC_WITH_SHORT_METADATA;
    for (size_t i = 0; is_short && output->rows > 0 && i < output->lines.count; i++)
        if (output->lines.shown[i]->about != NULL)
            write_line(output, output->lines.shown[i]->name, output->lines.shown[i]->about);
}

void bc_output_end(struct bc_output *output, int status)
{
    if (output == NULL || !has_metadata(output) || output->lost != 0)
        return;
    write_waiting_header(output, NULL);
    write_meanings(output);
    write_disturbed(output);
    write_waiting(output);
    if (is_json(output))
        fprintf(output->stream, "{\"end\": {\"rows\": %" PRId64 ", \"exit\": %d}}\n", output->rows,
                status);
    else
        fprintf(output->stream, "# end: %" PRId64 " row%s, exit %d\n", output->rows,
                output->rows == 1 ? "" : "s", status);
    flush(output);
}

bool bc_output_good(const struct bc_output *output) { return output == NULL || output->lost == 0; }

bool bc_output_close(struct bc_output *output)
{
    if (output == NULL)
        return true;
    write_members(output);
    write_waiting(output);
    flush(output);
    int problem = output->lost;
    if (!output->borrowed && fclose(output->stream) != 0 && problem == 0)
        problem = errno;
    free(output->buffer);
    free(output->lines.shown);
    free(output->lines.left_out.start);
    free(output);
    errno = problem;
    return problem == 0;
}

bool bc_outcome_failed(const struct bc_outcome *outcome)
{
    return outcome->status != NULL && strcmp(outcome->status, BC_FAIL) == 0;
}
