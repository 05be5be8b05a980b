/*
 * The head of a result: what a file says of itself before its first row, and where its
 * columns are. All local.
 */
#ifndef COMMCOST_BENCH_COMPARE_HEAD_H
#define COMMCOST_BENCH_COMPARE_HEAD_H

#include "common/result/output.h"
#include "run_scripts/bench_compare/lines.h"
#include "run_scripts/bench_compare/results.h"

/* How much of a name or a cell an error shows. */
#define SHOWN ".120s"

#define NO_COLUMN SIZE_MAX

/* What sides that are compared should have in common. */
extern const char *const setting_names[SETTINGS];

/* Starts as zeros. */
struct head {
    char *columns_line, *benchmark, *ranks; /* NULL until met */
    char *settings[SETTINGS];               /* NULL until met */
    struct {
        const char *name; /* in columns_line */
        enum bc_role role;
    } columns[RESULTS_COLUMNS_MAX]; /* as `# columns:` has them */
    size_t column_count;
    size_t cell_count;                     /* of a row */
    size_t column_of[RESULTS_COLUMNS_MAX]; /* of each cell */
    size_t keys[RESULTS_COLUMNS_MAX];      /* cells that are keys, but the run's, in the order
                                              of `# columns:`: rows may have another one */
    size_t key_count;
    size_t run, status; /* cells, or NO_COLUMN */
    bool has_end;       /* if the file is complete, its last line says so */
    size_t schema;      /* the number that its reader gives it (results.h) */
};

/* Reads up to the header row, and that. False with the error set. Free in any case. */
bool head_read(struct head *head, struct lines *lines, struct bc_error *error);
void head_free(struct head *head);

/* The name of a cell's column. */
const char *head_cell_name(const struct head *head, size_t cell);

#endif
