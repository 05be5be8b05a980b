/*
 * A run of a benchmark, as its program sees it, and how it samples. bc_start makes it (program.h).
 */
#pragma once

#include "common/clock/clock.h"
#include "common/machine/job.h"
#include "common/result/output.h"
#include "common/run/options.h"
#include "common/sampling/sampling.h"

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

/* What starts ranks together, in place of a barrier. A program that lets it do that links one and
   names it: bc_window_starter of common/sync_clock/start_window.h, which describes the functions.
   The rest of common/ reaches it only through this. */
struct bc_start_window;
struct bc_starter {
    struct bc_start_window *(*create)(const struct bc_job *job, const struct bc_clock_cost *cost,
                                      double seconds);
    void (*wait)(struct bc_start_window *window);
    struct bc_starts *(*starts)(struct bc_start_window *window);
    void (*describe)(const struct bc_start_window *window, struct bc_output *output);
    void (*conclude)(const struct bc_start_window *window, struct bc_output *output);
    void (*destroy)(struct bc_start_window *window);
};

struct bc_program;

/* What a row's visits were like. */
struct bc_presence {
    int visits;
    double lost_pct; /* the share of the time in which ranks were interrupted, mean over ranks; NAN:
                        not known */
};

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
    struct bc_sampler *sampler;     /* over MPI_COMM_WORLD */
    struct bc_start_window *window; /* NULL with --start=barrier */
    int visits; /* that each row gets, more if it isn't precise then; see --visits */

    /* What the program may set before the first visit. */
    double budget_s; /* of a run with default times, from start_s on; INFINITY: none. On rank 0 */
    bool counted;    /* samples or iterations were asked for by number: rows run in full unless
                        --max-time is given, and are visited once unless --visits is. On rank 0 */
    int row_shares;  /* the number of --max-time shares that a row takes */

    /* The row in hand. */
    int visit;                   /* its present one, from 0 on */
    int64_t rows;                /* written so far */
    struct bc_presence presence; /* of the row that is written; on rank 0 */

    bool failed; /* on rank 0: a row's status was FAIL */
    int signal;  /* that ended the run, or 0 */

    struct bc_own_run *own; /* what common/run/ alone needs (internal.h) */
};

/* The share of a rank's memory that its buffers may take; MPI libraries need some themselves. */
#define BC_MEMORY_SHARE 0.5

/* The bytes that buffers of this rank may take: `share` of job.memory_per_rank, or, if they lie in
   windows, of job.shared_memory_per_rank where that is less. Local. */
double bc_run_usable_bytes(const struct bc_run *run, double share, bool in_windows);

/* The starts of the run's window; NULL without one. Local. */
struct bc_starts *bc_run_starts(const struct bc_run *run);

/* The part of `total` samples that belongs to the visit in hand; whatever the number of visits, the
   parts of all add up to it. Local. */
int64_t bc_run_part_of_visit(int64_t total, const struct bc_run *run);

/* The plan that the settings make for a visit, or a part of it, that may take `seconds` from now:
   the row's numbers of samples are divided among its visits. `taken` has the row's samples so far;
   NULL: this visit's are the first. Use on rank 0. */
struct bc_plan bc_run_plan(const struct bc_run *run, const struct bc_samples *taken,
                           double seconds);

/* A value that has to be precise before adaptive sampling ends. */
struct bc_precise_value {
    int quantity;
    int subtrahend;       /* the quantity to subtract from it, round by round; -1: none */
    double resolution_ns; /* an interval with a half-width below this is narrow enough */
    double negligible_ns; /* a value up to this need not be precise; 0: every value must be */
};

#define BC_PRECISE_VALUES_MAX 4

/* Internal to bc_plan_until_precise. */
struct bc_precision {
    const struct bc_run *run;
    const struct bc_precise_value *values;
    int count;
    struct bc_stopping stopping[BC_PRECISE_VALUES_MAX];
};

/* Lets `plan` end when all `count` values (at most BC_PRECISE_VALUES_MAX) have intervals as narrow
   as --precision asks for, by the samples of the visit; does nothing to a plan with a fixed number
   of rounds. Fills in `rule`, which must outlive the plan, as the values must. Local. */
void bc_plan_until_precise(struct bc_plan *plan, struct bc_precision *rule,
                           const struct bc_run *run, const struct bc_precise_value *values,
                           int count);

/* Whether a row has what was asked for: the number of samples; or values whose intervals, over all
   visits, are as narrow as --precision asks for; where rows are visited once, whether that visit
   was precise in time. Local; what it says on other ranks than rank 0 means nothing. */
bool bc_run_is_precise(const struct bc_run *run, const struct bc_samples *samples, bool in_time,
                       const struct bc_precise_value *values, int count);

/* Appends a visit to `samples`: quantity 0 of the source, less quantity `subtrahend` round by round
   (-1: less nothing), within `seconds` (significant on rank 0) until its interval is as narrow as
   the settings ask for, or there are as many samples. True if that was reached before the time was
   up. Collective over the sampler's communicator. */
bool bc_run_sample(const struct bc_run *run, const struct bc_source *source, int subtrahend,
                   double seconds, struct bc_samples *samples);

/* What the samples make of a row: their number, BC_OK or BC_BUDGET by `precise`, the slowest rank,
   and the row's visits. Local; rank 0. */
struct bc_outcome bc_run_outcome(const struct bc_run *run, const struct bc_samples *samples,
                                 bool precise);

/* Writes a quantity's samples to the file of --dump-samples, if any, under the number of the row to
   come: row, quantity, visit, sample, value. Local; rank 0. */
void bc_run_dump(const struct bc_run *run, const char *name, const struct bc_samples *samples,
                 int quantity);

/* bc_samples_summarize by the estimator and at the confidence of the settings. Local; rank 0. */
struct bc_summary bc_run_summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity, int subtrahend);

/* The mean of one value a visit, with an interval over visits: bc_mean_of_visits, or by the
   estimator `mean` Student's. Local. */
struct bc_summary bc_run_over_visits(const struct bc_run *run, const double *values, size_t count);

/* Adds up what each rank found wrong in a row's data (`wrong`: operations, messages, swaps; 0
   without --check). If that is not 0, the row's status becomes BC_FAIL, with which the program ends
   with exit status 1. Returns the sum on rank 0, and 0 on all others. Call it when `outcome` is
   complete. Collective over MPI_COMM_WORLD. */
int64_t bc_sum_wrong(int64_t wrong, struct bc_outcome *outcome);

/* The signal of SIGTERM, SIGINT and SIGUSR1, with which schedulers warn, that came to this rank
   last; 0: none. The run ends after the visit in hand. Local. */
int bc_signals_noted(void);
