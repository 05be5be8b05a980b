/*
 * Tab-separated files, line by line. They may hold anything: a byte of 0 and lines and
 * files beyond the limits of results.h are refused. All local.
 */
#ifndef COMMCOST_BENCH_COMPARE_LINES_H
#define COMMCOST_BENCH_COMPARE_LINES_H

#include "common/run/options.h"

struct lines {
    FILE *stream;
    const char *path;
    char *text; /* of the line, without its end */
    size_t length, capacity;
    bool complete; /* it had an end */
    size_t number; /* counted from 1 */
    size_t bytes;  /* of the file so far */
    uint64_t hash; /* of the file so far */
};

/* False with the error set; then there is nothing to close. `path` must stay. */
bool lines_open(struct lines *lines, const char *path, struct bc_error *error);
void lines_close(struct lines *lines);

/* Reads the next line: its end, "\n" or "\r\n", is left out, and so is the mark
   with which some programs begin a file of UTF-8. The error is set for BAD. */
enum next { LINE, END, BAD };
enum next lines_next(struct lines *lines, struct bc_error *error);

/* Makes the error of a file, with the line's number; always false. */
bool refuse(const struct lines *lines, struct bc_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value of `# key: value` if the line is that; or NULL. */
const char *meta_value(const char *line, const char *key);

/* Cuts a line at its tabs; the number of cells, of which the first `most` are set. */
size_t split(char *line, char **cells, size_t most);

#endif
