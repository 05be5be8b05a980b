/*
 * A benchmark program: what it is, in one constant, and the life that all of them share.
 *
 * common/run/main.c has the main() of all programs. The frame calls the benchmark's functions in
 * the order in which they stand below. `state` is the benchmark's own struct: its options' values,
 * and whatever its rows share.
 */
#ifndef COMMCOST_COMMON_RUN_BENCHMARK_H
#define COMMCOST_COMMON_RUN_BENCHMARK_H

#include "common/run/run.h"

struct bc_rows; /* the rows of a sweep, as a list */

/* Adds a row at the end. The key, of the benchmark's `bytes.key` bytes, is copied: what `visit`
   needs to know of the row. Local; the same rows on every rank. Ends the job without memory. */
void bc_rows_add(struct bc_rows *rows, const void *key);

struct bc_benchmark {
    const char *name;
    const char *summary; /* what it measures, for --help */
    struct {
        const struct bc_option *rows;
        size_t count;
        const void *defaults;  /* what the state begins with, the options' values; NULL: zeros */
        size_t defaults_bytes; /* of that; the rest of the state begins with zeros */
    } options;
    /* Further rows for the same state: what a program has beside the options that it shares with
       others. */
    struct {
        const struct bc_option *rows;
        size_t count;
    } own_options;
    struct bc_table table;   /* the columns; they point into a result of `conclude` */
    double budget_s;         /* a run with defaults ends within this, start-up included, unless the
                                min samples of all rows take longer */
    bool may_start_together; /* has the option --start: run->window can start what it times */
    char usage_option;       /* a short option that asks for help beside -h, or 0 */
    struct {
        size_t state;       /* the whole state */
        size_t key, result; /* of a row */
        size_t row;         /* what a row remembers from visit to visit; begins as zeros */
    } bytes;

    /* The thread level that it asks MPI for. Local, before MPI_Init. NULL: MPI_THREAD_SINGLE. */
    int (*thread_level)(const void *state);
    /* Turns option values into what the benchmark uses, on every rank. False with the error set
       if values are wrong, which happens on rank 0 only. Local. NULL: nothing to do. */
    bool (*complete)(void *state, struct bc_error *error);
    /* Checks the options against the job and its memory, on rank 0 only. May lower the value of an
       option that wasn't given, or run->budget_s; other ranks get the options' values after that.
       False with the error set ends the run with exit status 2. Local. NULL: nothing to check. */
    bool (*fit)(void *state, struct bc_run *run, struct bc_error *error);
    /* Checks what only a measurement tells, once the clock is chosen and before the result is
       opened. False, on rank 0, with the error set ends the run with exit status 2. Collective.
       NULL: nothing to check. */
    bool (*probe)(void *state, struct bc_run *run, struct bc_error *error);
    /* The columns, where they depend on options. Local. NULL: `table`. */
    struct bc_table (*choose_table)(const void *state);
    /* Makes what all rows share, and writes notes. Collective. */
    void (*open)(void *state, struct bc_run *run);
    /* Lists the rows in the order in which they are written. Collective. NULL: there are none. */
    void (*rows)(void *state, struct bc_rows *rows);
    /* Makes windows and communicators that rows share anew, before each time that all rows are
       visited in turn but the first: where they lie in memory changes from launch to launch, too.
       Collective. NULL: there are none, or that takes too long. */
    void (*renew)(void *state);
    /* One visit: measures a row within `seconds` (significant on rank 0; INFINITY: as long as it
       takes) and keeps what it finds in `row`. The first visit also finds what later ones use, such
       as the length of a batch. Buffers are made anew. Collective. */
    void (*visit)(void *state, const void *key, double seconds, void *row);
    /* Whether the row is as precise as the settings ask for; it gets more visits if not, while
       there is time. Local; rank 0. */
    bool (*is_precise)(const void *state, const void *key, const void *row);
    /* Fills in the result of all visits, which begins as zeros, on rank 0; frees what the row
       holds, unless there is `follow`. Collective. */
    void (*conclude)(void *state, const void *key, void *row, void *result);
    /* Fills in a further result, which begins as zeros, of the row that was concluded last, for a
       benchmark that finds what else there is to say by measuring; false if there is none, and then
       it frees what the row holds. The same on all ranks; the result is rank 0's. Collective. NULL:
       a row has one result. */
    bool (*follow)(void *state, const void *key, void *row, void *result);
    /* The share of a row's time that its first visit may take; 0: as much as each other visit. */
    double first_share;
    /* Frees what `open` made. Collective. NULL: nothing to free. */
    void (*close)(void *state);
    /* The number of --max-time shares that a row takes. NULL: one. */
    int (*shares)(const void *state);
};

/* Runs the benchmark as a program and returns its exit status (enum bc_exit), the same on every
   rank. Collective. */
int bc_benchmark_main(const struct bc_benchmark *benchmark, int argc, char **argv);

/* What bc_benchmark_main does without MPI, for tests that want to know what a program makes of a
   command line. All local. */

/* Makes the benchmark's state and sets the defaults of all options. `run` must stay where it is.
   False without memory. */
bool bc_run_prepare(struct bc_run *run, const struct bc_benchmark *benchmark);

/* Reads the environment and a command line into what was just prepared, and checks the values
   against each other and against the job, which the caller has filled in (job, thread_level,
   memory_per_rank, shared_memory_per_rank). False with the error set. True without any check
   where help or version is asked for. */
bool bc_run_accept(struct bc_run *run, int argc, char *const *argv, bc_lookup_fn *lookup,
                   struct bc_error *error);

/* Prints what --help prints. Call before anything is read, when the values are the defaults. */
void bc_run_help(FILE *stream, const struct bc_run *run);

/* Frees the state, the options and what their values own. */
void bc_run_release(struct bc_run *run);

#endif
