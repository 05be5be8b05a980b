#include "run_scripts/bench_compare/lines.h"

#include "run_scripts/bench_compare/results.h"
#include "run_scripts/bench_compare/storage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool lines_open(struct lines *lines, const char *path, struct bc_error *error)
{
    *lines = (struct lines){.path = path, .hash = HASH_START};
    lines->stream = fopen(path, "rb");
    struct stat status;
    if (lines->stream == NULL)
        return bc_error_set(error, "cannot read '%.200s': %s: name a result or a folder of results",
                            path, strerror(errno));
    if (fstat(fileno(lines->stream), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(lines->stream);
        return bc_error_set(error, "cannot read '%.200s': it is a folder", path);
    }
    return true;
}

void lines_close(struct lines *lines)
{
    fclose(lines->stream);
    free(lines->text);
}

bool refuse(const struct lines *lines, struct bc_error *error, const char *format, ...)
{
    char text[BC_ERROR_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return bc_error_set(error, "%.200s: line %zu: %s", lines->path, lines->number, text);
}

static void append(struct lines *lines, char c)
{
    if (lines->length == lines->capacity) {
        make_room(&lines->text, lines->length, 1);
        lines->capacity = lines->length > 0 ? 2 * lines->length : 16; /* as make_room does */
    }
    lines->text[lines->length++] = c;
}

/* Reads up to the end of the line, which is left out. */
static bool read_line(struct lines *lines, struct bc_error *error)
{
    lines->length = 0;
    lines->complete = false;
    lines->number++;
    int c;
    while (!lines->complete && (c = getc(lines->stream)) != EOF) {
        const char byte = (char)c;
        lines->hash = hash_bytes(lines->hash, &byte, 1);
        if (++lines->bytes > RESULTS_FILE_MAX)
            return refuse(lines, error, "the file is larger than %zu MiB", RESULTS_FILE_MAX >> 20);
        lines->complete = byte == '\n';
        if (byte == '\0')
            return refuse(lines, error, "a byte of 0: this is no result");
        if (!lines->complete && lines->length >= RESULTS_LINE_MAX)
            return refuse(lines, error, "longer than %zu MiB: this is no result",
                          RESULTS_LINE_MAX >> 20);
        append(lines, (char)(lines->complete ? 0 : c));
    }
    if (ferror(lines->stream))
        return bc_error_set(error, "cannot read '%.200s': %s", lines->path, strerror(errno));
    if (!lines->complete)
        append(lines, '\0');
    return true;
}

enum next lines_next(struct lines *lines, struct bc_error *error)
{
    if (!read_line(lines, error))
        return BAD;
    lines->length--; /* without the 0 */
    if (lines->length == 0 && !lines->complete)
        return END;
    if (lines->length > 0 && lines->text[lines->length - 1] == '\r')
        lines->text[--lines->length] = '\0';
    if (lines->number == 1 && strncmp(lines->text, "\xef\xbb\xbf", 3) == 0) {
        lines->length -= 3;
        memmove(lines->text, lines->text + 3, lines->length + 1);
    }
    return LINE;
}

const char *meta_value(const char *line, const char *key)
{
    const size_t length = strlen(key);
    if (strncmp(line, "# ", 2) != 0 || strncmp(line + 2, key, length) != 0 ||
        strncmp(line + 2 + length, ": ", 2) != 0)
        return NULL;
    return line + 2 + length + 2;
}

size_t split(char *line, char **cells, size_t most)
{
    size_t count = 0;
    for (char *cell = line; cell != NULL;) {
        char *const tab = strchr(cell, '\t');
        if (tab != NULL)
            *tab = '\0';
        if (count < most)
            cells[count] = cell;
        count++;
        cell = tab != NULL ? tab + 1 : NULL;
    }
    return count;
}
