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
    BC_EXIT_USAGE = 2   /* wrong usage */
};

/* How ranks are released into a timed region: by a barrier, or at a moment of a shared clock. */
enum bc_start { BC_START_BARRIER, BC_START_WINDOW };

/* What a result says of itself. AUTO: short on stdout, full in a file. */
enum bc_metadata { BC_METADATA_AUTO, BC_METADATA_SHORT, BC_METADATA_FULL, BC_METADATA_NONE };

/* The options that every benchmark has, and what they ask of a row. */
struct bc_settings {
    bool help, version;
    int format;          /* enum bc_format */
    const char *output;  /* NULL: stdout */
    const char *columns; /* main, all or names with commas in between; NULL: main on stdout, all in
                            a file */
    int metadata;        /* enum bc_metadata */
    bool no_header, no_metadata;
    double precision_pct, confidence_pct;
    int64_t min_samples, max_samples;
    int64_t samples;   /* exactly this number; 0: adaptive */
    double max_time_s; /* of a row */
    int64_t visits;    /* of a row; 0: BC_VISITS, or one where a specification's counts are used */
    int64_t warmup;    /* operations; -1: as many as it takes */
    int timer;         /* enum bc_clock_kind */
    int estimator;     /* enum bc_estimator */
    bool check;
    const char *dump_samples; /* NULL: none */
    int start;                /* enum bc_start */
};

/* The visits of a row where nothing else is asked for: the fewest that have an interval of 95 %
   which assumes no more of how visits differ than symmetry (bc_pseudomedian). */
#define BC_VISITS 6

/* For the error text of a job that got one process only. */
#define BC_LAUNCHER_HINT " (if you did, mpirun is of another MPI library than this program)"
#define BC_NEEDS_2_RANKS                                                                           \
    "needs at least 2 processes, got 1: use mpirun -np 2 or more" BC_LAUNCHER_HINT

struct bc_program;

struct bc_run {
    const struct bc_program *program;
    struct bc_job job;
    struct bc_settings settings;
    struct bc_options options;      /* the program's own, then the common ones */
    int thread_level;               /* that MPI provides; minimum over ranks */
    struct bc_clock_cost own_clock; /* this rank's: comes off what it times */
    struct bc_clock_cost max_clock; /* maximum over ranks: for metadata, and decisions made alike */
    double start_s;                 /* on bc_elapsed_s() */
    struct bc_output *output;       /* NULL on all ranks but rank 0 */
    struct bc_start_window *window; /* ranks start at moments of it; NULL with --start=barrier */
    int visits; /* that each row gets, more if it isn't precise then; see --visits */

    /* What the program may set before the first visit. */
    double budget_s; /* of a run with default times, from start_s on; INFINITY: none. On rank 0 */
    bool counted;    /* samples or iterations were asked for by number: rows run in full unless
                        --max-time is given, and are visited once unless --visits is. On rank 0 */
    int row_shares;  /* the number of --max-time shares that a row takes */

    /* The row in hand. */
    int visit;                 /* its present one, from 0 on */
    int64_t rows;              /* written so far */
    struct bc_outcome visited; /* while it is written: visits and lost_pct; on rank 0 */

    bool failed; /* on rank 0: a row's status was FAIL */
    int signal;  /* that ended the run, or 0 */

    struct bc_own_run *own; /* what common/run/ alone needs (internal.h) */
};

/* The share of a rank's memory that its buffers may take; MPI libraries need some themselves. */
#define BC_MEMORY_SHARE 0.5

/* The bytes that buffers of this rank may take: `share` of job.memory_per_rank, or, if they lie in
   windows, of job.shared_memory_per_rank where that is less. Local. */
double bc_run_usable_bytes(const struct bc_run *run, double share, bool in_windows);

/* The mean of one value a visit, with an interval over visits: bc_mean_of_visits, or by the
   estimator `mean` Student's. Local. */
struct bc_summary bc_run_over_visits(const struct bc_run *run, const double *values, size_t count);

/* Writes a sample in ns to the file of --dump-samples, if any, under the number of the row to come.
   Visits and samples count from 1. Local; rank 0. */
void bc_dump_sample(const struct bc_run *run, const char *quantity, size_t visit, size_t sample,
                    double ns);

/* Adds up what each rank found wrong in a row's data (`wrong`: operations, messages, swaps; 0
   without --check). If that is not 0, the row's status becomes BC_FAIL, with which the program ends
   with exit status 1. Returns the sum on rank 0, and 0 on all others. Call it when `outcome` is
   complete. Collective over MPI_COMM_WORLD. */
int64_t bc_sum_wrong(int64_t wrong, struct bc_outcome *outcome);

/* The signal of SIGTERM, SIGINT and SIGUSR1, with which schedulers warn, that came to this rank
   last; 0: none. The run ends after the visit in hand. Local. */
int bc_signals_noted(void);
