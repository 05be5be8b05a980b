/*
 * The life of a benchmark program, the same for all of them:
 *
 *     struct bc_run run;
 *     int status;
 *     if (!bc_run_begin(&run, &benchmark, argc, argv, &status))
 *         return status;
 *     ... for each row: measure, fill a bc_row, bc_run_row() ...
 *     return bc_run_end(&run);
 *
 * Exit status: 0 done; 1 a measurement or a data check failed, or output was
 * lost, or a signal ended the run; 2 wrong usage.
 */
#ifndef COMMCOST_COMMON_RUN_RUN_H
#define COMMCOST_COMMON_RUN_RUN_H

#include "common/clock/clock.h"
#include "common/machine/contention.h"
#include "common/machine/job.h"
#include "common/run/options.h"
#include "common/result/output.h"
#include "common/stats/sampling.h"
#include "common/clock/shared/start_window.h"
#include "common/stats/stats.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of a program: done; wrong data, lost output or a signal; wrong usage. */
enum bc_exit { BC_EXIT_DONE = 0, BC_EXIT_FAILED = 1, BC_EXIT_USAGE = 2 };

/* For the error text of a job that got one process only. */
#define BC_LAUNCHER_HINT " (if you did, mpirun is of another MPI library than this program)"

/* The options that every benchmark has. */
struct bc_settings {
    bool help, version;
    int format;         /* enum bc_format */
    const char *output; /* NULL: stdout */
    bool no_header, no_metadata;
    double precision_pct, confidence_pct;
    int64_t min_samples, max_samples;
    int64_t samples;   /* 0: adaptive */
    double max_time_s; /* a row */
    int64_t warmup;    /* -1: until the median settles */
    int timer;         /* enum bc_clock_kind */
    int estimator;     /* enum bc_estimator */
    bool check;
    const char *dump_samples; /* NULL: none */
    int sync;                 /* enum bc_sync */
};

/* How ranks are let go before a timed region. */
enum bc_sync { BC_SYNC_BARRIER, BC_SYNC_WINDOW };

struct bc_run;

/* What a program says of itself. */
struct bc_benchmark {
    const char *name;
    const char *summary;       /* what it measures, for --help */
    struct bc_table table;     /* the columns of its rows */
    struct bc_option *options; /* its own, beside the common ones */
    size_t option_count;
    int thread_level;        /* that it asks MPI for */
    const int64_t *threads;  /* the value of the option that says how many
                                threads call MPI: with more than one it
                                asks for MPI_THREAD_MULTIPLE; or NULL */
    double run_budget_s;     /* of a run with defaults */
    bool may_start_together; /* has the option --sync: what it times can be
                                started by run.window */
    char usage_option;       /* a short option that asks for help beside
                                -h, or 0 */
    /* Checks what no single option can (one against another, against the
       job). Called on rank 0 after parsing; false with the error set ends the
       run with exit status 2. NULL: nothing to check. May adjust values. */
    bool (*validate)(struct bc_run *run, struct bc_error *error);
};

struct bc_run {
    const struct bc_benchmark *benchmark;
    struct bc_job job;
    struct bc_settings settings;
    struct bc_options options;      /* common and own */
    char *defaults;                 /* theirs, as bc_options_encode has them */
    struct bc_clock_cost own_clock; /* this rank's: comes off what it times */
    struct bc_clock_cost max_clock; /* max over ranks: for the metadata, and for
                                       what all ranks must decide alike */
    int thread_level;               /* that MPI gives; the least over ranks */
    int64_t memory_per_rank;        /* bytes; see bc_job_memory_per_rank */
    int64_t shared_memory_per_rank; /* see bc_job_shared_memory_per_rank */
    struct bc_output *output;       /* NULL but on rank 0 */
    FILE *dump;                     /* --dump-samples; NULL but on rank 0 */
    int dump_problem;               /* errno of what it lost, or 0 */
    struct bc_start_window *window; /* NULL with --sync=barrier */
    double start_s;
    double budget_s;                 /* of a run with default times, from start_s on:
                                        the benchmark's; its validate may set another
                                        one, INFINITY for none. On rank 0 */
    int64_t rows;                    /* written so far */
    struct bc_contention contention; /* since the last row */
    bool failed;                     /* on rank 0: a row's status was FAIL */
    int signal;                      /* that ended the run, or 0 */
};

/*
 * Initializes MPI, parses the command line and the environment on rank 0,
 * broadcasts the values, describes the job, opens the output and writes the
 * metadata and the header row. Collective. False if the program is to return
 * *status at once: help and version, wrong usage, no memory, or a result that can't be
 * written. MPI is finalized then, or was not initialized.
 */
bool bc_run_begin(struct bc_run *run, const struct bc_benchmark *benchmark, int argc, char **argv,
                  int *status);

/*
 * What bc_run_begin does without MPI, for a caller who wants to know what a program
 * makes of a command line. All local.
 */

/* Sets the defaults and makes the table of the benchmark's own options and the
   common ones. False without memory. */
bool bc_run_prepare(struct bc_run *run, const struct bc_benchmark *benchmark);

/* Reads the environment and a command line into what was just prepared, and checks them
   against each other and against the job, which the caller has filled in (job,
   thread_level, memory_per_rank, shared_memory_per_rank). False with the error set.
   True without any check where help or version is asked for. */
bool bc_run_accept(struct bc_run *run, int argc, char *const *argv, bc_lookup_fn *lookup,
                   struct bc_error *error);

/* Prints what --help prints. Call before anything is read, when the values are the
   defaults. */
void bc_run_help(FILE *stream, const struct bc_run *run);

/* Frees the table and what its values own. */
void bc_run_release(struct bc_run *run);

/* How long the next row may take, in seconds, if `rows_left` rows including it
   are still to come: --max-time, or with defaults its share of what is left of
   the run's budget, if it has one and that is less. INFINITY where a number of
   samples was asked for without a time. Use on rank 0. */
double bc_run_row_seconds(const struct bc_run *run, int64_t rows_left);

/* The plan that the settings make for a row or a part of it that may take so
   many seconds from now. Use on rank 0. */
struct bc_plan bc_run_plan(const struct bc_run *run, double seconds);

/* Samples quantity 0 of the source within so many seconds (significant on
   rank 0) until its interval is as narrow as the settings ask for, or takes the
   number of samples that they ask for. True if that was reached before the
   time was up. Collective over the sampler's communicator; the summary is
   filled on rank 0 only. */
bool bc_run_sample(const struct bc_run *run, struct bc_sampler *sampler,
                   const struct bc_source *source, double seconds, struct bc_summary *summary);

/* The same for quantity 0 less quantity 1, round by round. */
bool bc_run_sample_difference(const struct bc_run *run, struct bc_sampler *sampler,
                              const struct bc_source *source, double seconds,
                              struct bc_summary *summary);

/* Writes a row, before it a warning if a rank had to wait for its processor, notes the
   row's status FAIL, and agrees with all ranks on whether to go on: false after a
   signal, or when output is lost. Collective; only rank 0's row counts. */
bool bc_run_row(struct bc_run *run, const struct bc_row *row);

/* Writes samples to the file of --dump-samples, if any, under the number of
   the row to come: row, quantity, sample, value. Local; rank 0. */
void bc_run_dump(const struct bc_run *run, const char *quantity, const double *values,
                 size_t count);

/* The summary of one quantity, and of one less another round by round (-1: less
   nothing), by the estimator and at the confidence of the settings. Local; rank 0. */
struct bc_summary bc_run_summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity);
struct bc_summary bc_run_summarize_difference(const struct bc_run *run,
                                              const struct bc_samples *samples, int quantity,
                                              int subtrahend);

/* Sets the cells x_us, x_lo_us, x_hi_us, x_p99_us and x_max_us of a time `x`
   that was measured in nanoseconds. */
void bc_row_time(struct bc_row *row, const char *quantity, const struct bc_summary *summary);

/* Marks the end of the result, finalizes MPI and returns the exit status, the same on
   every rank. Collective. */
int bc_run_end(struct bc_run *run);

#endif
