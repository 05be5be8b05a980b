/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of a benchmark, as its program sees it. bc_start makes it (program.h).
 */
#pragma once

#include "common/clock/clock.h"
#include "common/job/job.h"
#include "common/result/output.h"
#include "common/run/options.h"
#include "common/stats/stats.h"
#include "common/sync_clock/start_window.h"

/* Exit status of a benchmark. */
enum bc_exit {
    BC_EXIT_DONE = 0,
    BC_EXIT_FAILED = 1, /* wrong data, lost output, or a signal ended the run */
    BC_EXIT_USAGE = 2
};

/* The release of ranks into a timed region: by a barrier, or at a moment of a shared clock. */
enum bc_start { BC_START_BARRIER, BC_START_WINDOW };

/* --metadata. AUTO: short on stdout, full in a file. */
enum bc_metadata { BC_METADATA_AUTO, BC_METADATA_SHORT, BC_METADATA_FULL, BC_METADATA_NONE };

/* --pages */
enum bc_pages { BC_PAGES_NORMAL, BC_PAGES_HUGE };

/* The options that every benchmark has; `align` and `pages` only if it has buffers. */
struct bc_settings {
    bool help, version;
    int format;          /* enum bc_format */
    const char *output;  /* NULL: stdout */
    const char *columns; /* main, all or names with commas; NULL: main on stdout, all in a file */
    int metadata;        /* enum bc_metadata */
    bool no_header, no_metadata;
    double precision_pct, confidence_pct;
    int64_t min_samples, max_samples; /* of a row */
    int64_t samples;                  /* exactly this number; 0: adaptive */
    double max_time_s;                /* of a row */
    int64_t visits; /* of a row; 0: BC_VISITS, or one with a specification's counts */
    int64_t warmup; /* operations; -1: until the median settles */
    int timer;      /* enum bc_clock_kind */
    int estimator;  /* enum bc_estimator */
    bool check;
    const char *dump_samples; /* NULL: none */
    int start;                /* enum bc_start */
    const char *align;        /* placements of buffers, with commas */
    int pages;                /* enum bc_pages */
};

/* Default number of visits of a row: the fewest with a 95 % interval that assumes only that visits
   differ symmetrically (bc_pseudomedian). */
#define BC_VISITS 6

/* For the error text of a job with one process. */
#define BC_LAUNCHER_HINT " (if you did, mpirun is of another MPI library than this program)"
#define BC_NEEDS_2_RANKS                                                                           \
    "needs at least 2 processes, got 1: use mpirun -np 2 or more" BC_LAUNCHER_HINT

struct bc_program;

struct bc_run {
    const struct bc_program *program;
    struct bc_job job;
    struct bc_settings settings;
    struct bc_options options;      /* the program's own, then the common ones */
    int thread_level;               /* of MPI; minimum over ranks */
    struct bc_clock_cost own_clock; /* this rank's: is subtracted from its times */
    struct bc_clock_cost max_clock; /* maximum over ranks: for decisions that ranks make alike */
    double start_s;                 /* on bc_elapsed_s() */
    struct bc_output *output;       /* NULL on all ranks except rank 0 */
    struct bc_start_window *window; /* agreed starts of ranks; NULL with --start=barrier */
    int visits;                     /* of each row; an imprecise row gets more; see --visits */

    /* Set by the program, if at all, before the first visit. */
    double budget_s; /* of a run with default times, from start_s on; INFINITY: none. On rank 0 */
    bool counted;    /* the user gave a number of samples or iterations: rows run in full unless
                        --max-time is given, in one visit unless --visits is. On rank 0 */
    int row_shares;  /* the number of --max-time shares that a row takes */

    /* The current row. */
    int visit;                 /* number of the current visit, from 0 */
    int64_t rows;              /* written so far */
    struct bc_outcome visited; /* while it is written: align, visits, lost_pct; on rank 0 */

    bool failed; /* on rank 0: a row's status was FAIL */
    int signal;  /* the signal that ended the run, or 0 */

    struct bc_own_run *own; /* private to common/run/ (internal.h) */
};

/* The share of a rank's memory that its buffers may take; MPI libraries need memory, too. */
#define BC_MEMORY_SHARE 0.5

/* Returns the bytes that buffers of this rank may take: `share` of job.memory_per_rank or, in
   windows, of job.shared_memory_per_rank if that is less. Local. */
double bc_run_usable_bytes(const struct bc_run *run, double share, bool in_windows);

/* Returns the mean of one value per visit, with its interval over visits: by bc_mean_of_visits, or
   Student's under the estimator `mean`. Local. */
struct bc_summary bc_run_over_visits(const struct bc_run *run, const double *values, size_t count);

/* Adds up the wrong operations, messages or swaps of a row (0 without --check). If there are some,
   the row's status becomes BC_FAIL, and the program ends with exit status 1. Returns the sum on
   rank 0, and 0 on all others. Call it when `outcome` is complete. Collective over MPI_COMM_WORLD.
 */
int64_t bc_sum_wrong(int64_t wrong, struct bc_outcome *outcome);

/* Returns the last signal of SIGTERM, SIGINT and SIGUSR1 (the warning of schedulers) that this rank
   got; 0: none. The run ends after the current visit. Local. */
int bc_signals_noted(void);
