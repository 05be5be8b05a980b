/*
 * Reading results for comparison: what each launch found for each row.
 *
 * A result says itself what its columns are (`# columns:`, common/result/output.h), so
 * nothing here knows a benchmark. A launch is one file as a program wrote it, or one value of the
 * column `run` in a file that holds several.
 *
 * A file whose last line isn't `# end:` was cut off; one that a signal ended says so, and
 * one that could write no more has an exit status there that no row explains. What is
 * missing in these isn't missing by chance, so their launches don't count, with a warning.
 * Results of schema 1 have no such line and count as they are.
 *
 * Files may hold anything: what is no result is refused with one line that names
 * the file and the place. Time and memory are bounded by the limits below.
 */
#ifndef COMMCOST_BENCH_COMPARE_RESULTS_H
#define COMMCOST_BENCH_COMPARE_RESULTS_H

#include "common/run/options.h"

/* What is larger is refused. */
#define RESULTS_LINE_MAX ((size_t)1 << 20)   /* bytes */
#define RESULTS_FILE_MAX ((size_t)1 << 28)   /* bytes */
#define RESULTS_VALUES_MAX ((size_t)1 << 24) /* in all files together */
#define RESULTS_LAUNCHES_MAX 10000           /* in all files together */
#define RESULTS_COLUMNS_MAX 256              /* of a file */

enum side { BASE, NEW, SIDES };

/* Options of a result's metadata that change what its numbers are: see head.h. */
enum { SETTINGS = 3 };

/* What a file's metadata says; NULL where no file says anything. */
struct said {
    char *text, *path;
};

/* Rows with the same benchmark and the same names of keys. */
struct schema {
    char *benchmark;
    char **keys; /* names */
    size_t key_count;
    struct said ranks; /* of the job */
    struct said settings[SETTINGS];
    bool differ[SETTINGS]; /* with a warning */
};

/* The values of one side, one a launch. */
struct values {
    double *values;
    size_t count;
    size_t launches; /* that have the row, with a value or without */
    size_t failed;   /* of these, with status FAIL: their values don't count */
};

/* One quantity of one row. */
struct series {
    size_t schema;
    char **keys; /* values, in the order of the schema's names */
    char *quantity;
    bool more; /* is better */
    struct values sides[SIDES];
};

struct results {
    struct schema *schemas;
    size_t schema_count;
    struct series *series; /* in the order in which they were met */
    size_t series_count;
    size_t launches[SIDES];   /* that count */
    size_t incomplete[SIDES]; /* and that don't, since rows may be missing */
    char **warnings;          /* one line each */
    size_t warning_count;
    struct reading *reading; /* internal */
};

struct results *results_create(void);
void results_free(struct results *results);

/* Adds a file, or a folder's results, to a side. Of a folder these are its *.tsv files that have a
   column `run` if there are any, else RUN/PROGRAM.tsv for each RUN in its folder `runs` if there
   are any, else its own *.tsv files, else those in its folders. Files of a folder that are no
   results are left out with a warning; a file that was named and is none is an error. False with
   the error set. */
bool results_add(struct results *results, enum side side, const char *path, struct bc_error *error);

/* To be called once, after all files: gathers each launch's values. A launch that was read twice on
   one side (a copy, or a file and the same run among others) counts once, with a warning. Of a row
   that a launch has several times the median counts. False with the error set. */
bool results_finish(struct results *results, struct bc_error *error);

#endif
