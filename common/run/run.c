#include "common/run/run.h"

#include "common/run/finalize.h"
#include "common/run/interrupt.h"
#include "common/result/metadata.h"
#include "common/mpi/mpi_check.h"
#include "common/mpi/harness.h"
#include "common/run/run_files.h"
#include "common/machine/shared_memory.h"

#include "build_info.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* When the time is up, at least so many samples a row are taken if they can be
   had within GRACE_SHARE of the row's time. */
#define LEAST_SAMPLES 6
#define GRACE_SHARE 1.0

/* Where the time is no limit, so many missed rounds are taken again for each that is
   asked for. */
#define RETAKES 4

/* What finding the clock that ranks start on may take. */
#define FIND_CLOCK_S 1.0

/* ---- options --------------------------------------------------------------------------------- */

static void set_defaults(struct bc_settings *settings)
{
    *settings = (struct bc_settings){
        .format = BC_FORMAT_TSV,
        .precision_pct = 2.0,
        .confidence_pct = 95.0,
        .min_samples = 30,
        .max_samples = 10000,
        .max_time_s = 1.0,
        .warmup = -1,
        .timer = BC_CLOCK_MONOTONIC,
        .estimator = BC_MEDIAN,
    };
}

bool bc_run_prepare(struct bc_run *run, const struct bc_benchmark *benchmark)
{
    *run = (struct bc_run){.benchmark = benchmark, .budget_s = benchmark->run_budget_s};
    set_defaults(&run->settings);
    struct bc_settings *const s = &run->settings;
    const struct bc_option common[] = {
        {.long_name = "help",
         .short_name = 'h',
         .kind = BC_FLAG,
         .value = &s->help,
         .internal = true,
         .help = "print this help and exit"},
        {.long_name = "version",
         .kind = BC_FLAG,
         .value = &s->version,
         .internal = true,
         .help = "print the version and exit"},
        {.long_name = "format",
         .kind = BC_CHOICE,
         .value = &s->format,
         .choices = "tsv|table",
         .help = "tab-separated values, or columns aligned for reading"},
        {.long_name = "output",
         .kind = BC_TEXT,
         .value = &s->output,
         .argument = "FILE",
         .help = "write the result to FILE, not stdout"},
        {.long_name = "no-header",
         .kind = BC_FLAG,
         .value = &s->no_header,
         .help = "rows only: no metadata, no header row; notes and warnings go to "
                 "stderr"},
        {.long_name = "no-metadata",
         .kind = BC_FLAG,
         .value = &s->no_metadata,
         .internal = true,
         .help = "header row and rows only; notes and warnings go to stderr"},
        {.long_name = "precision",
         .kind = BC_PERCENT,
         .value = &s->precision_pct,
         .argument = "PERCENT",
         .min = 0.001,
         .max = 100,
         .help = "sample until the interval's half-width is within this "
                 "share of the value"},
        {.long_name = "confidence",
         .kind = BC_PERCENT,
         .value = &s->confidence_pct,
         .argument = "PERCENT",
         .min = 50,
         .max = 99.99,
         .help = "confidence of the intervals"},
        {.long_name = "min-samples",
         .kind = BC_SIZE,
         .value = &s->min_samples,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .help = "samples of a row, at least, while there is time"},
        {.long_name = "max-samples",
         .kind = BC_SIZE,
         .value = &s->max_samples,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .help = "samples of a row, at most"},
        {.long_name = "samples",
         .kind = BC_SIZE,
         .value = &s->samples,
         .argument = "N",
         .min = 1,
         .max = 1e9,
         .zero = "adaptive",
         .help = "take exactly N samples, as long as that takes, unless "
                 "--max-time is given too"},
        {.long_name = "max-time",
         .kind = BC_REAL,
         .value = &s->max_time_s,
         .argument = "SECONDS",
         .min = 1e-3,
         .max = 1e6,
         .help = "time for a row"},
        {.long_name = "warmup",
         .kind = BC_INTEGER,
         .value = &s->warmup,
         .argument = "N",
         .min = -1,
         .max = 1e9,
         .help = "operations before sampling; -1: until the median settles"},
        {.long_name = "timer",
         .kind = BC_CHOICE,
         .value = &s->timer,
         .choices = "monotonic|tsc|wtime",
         .help = "clock: clock_gettime, the processor's time stamp counter, "
                 "or MPI_Wtime"},
        {.long_name = "estimator",
         .kind = BC_CHOICE,
         .value = &s->estimator,
         .choices = "median|mean",
         .help = "robust, or mean and standard deviation as the "
                 "specification says"},
        {.long_name = "check",
         .kind = BC_FLAG,
         .value = &s->check,
         .help = "verify the data of every operation, outside the timing"},
        {.long_name = "dump-samples",
         .kind = BC_TEXT,
         .value = &s->dump_samples,
         .argument = "FILE",
         .help = "write the samples behind every row to FILE, in nanoseconds"},
        /* The last one, since not all have it. */
        {.long_name = "sync",
         .kind = BC_CHOICE,
         .value = &s->sync,
         .choices = "barrier|window",
         .help = "what is timed starts when ranks come out of a barrier, and "
                 "the slowest one's time counts; or at a moment that they agree "
                 "on, by a synchronised clock, and the time from first start to "
                 "last end counts"},
    };
    const size_t common_count =
        sizeof common / sizeof *common - (run->benchmark->may_start_together ? 0 : 1);
    const size_t own_count = run->benchmark->option_count;
    run->options.count = common_count + own_count;
    run->options.rows = malloc(run->options.count * sizeof *run->options.rows);
    if (run->options.rows == NULL)
        return false;
    /* The benchmark's own options come first in --help and metadata. */
    if (own_count > 0)
        memcpy(run->options.rows, run->benchmark->options, own_count * sizeof *run->options.rows);
    memcpy(run->options.rows + own_count, common, common_count * sizeof *common);
    run->defaults = bc_options_encode(&run->options);
    if (run->defaults == NULL)
        bc_run_release(run);
    return run->defaults != NULL;
}

void bc_run_release(struct bc_run *run)
{
    bc_options_free(&run->options);
    free(run->options.rows);
    run->options.rows = NULL;
    free(run->defaults);
    run->defaults = NULL;
}

static bool validate(struct bc_run *run, struct bc_error *error)
{
    struct bc_settings *const s = &run->settings;
    if (s->min_samples > s->max_samples && !bc_option_given(&run->options, "min-samples"))
        s->min_samples = s->max_samples;
    if (s->min_samples > s->max_samples)
        return bc_error_set(error,
                            "--min-samples: %lld is more than --max-samples, "
                            "%lld: lower the one or raise the other",
                            (long long)s->min_samples, (long long)s->max_samples);
    return run->benchmark->validate == NULL || run->benchmark->validate(run, error);
}

bool bc_run_accept(struct bc_run *run, int argc, char *const *argv, bc_lookup_fn *lookup,
                   struct bc_error *error)
{
    return bc_options_parse(&run->options, argc, argv, lookup, error) &&
           (run->settings.help || run->settings.version || validate(run, error));
}

static const char *lookup_variable(const char *name)
{
    return getenv(name);
}

/* ---- help and version, without MPI ----------------------------------------------------------- */

/* Under a launcher every process runs this before MPI_Init; the one that the
   launcher calls rank 0 prints. */
static bool prints_before_init(void)
{
    static const char *const variables[] = {
        "PMI_RANK",     "PMIX_RANK",   "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK",
        "SLURM_PROCID", "PALS_RANKID",
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const rank = getenv(variables[i]);
        if (rank != NULL)
            return strcmp(rank, "0") == 0;
    }
    return true;
}

void bc_run_help(FILE *stream, const struct bc_run *run)
{
    fprintf(stream, "Usage: mpirun -np RANKS %s [OPTION]...\n\n%s\n\nOptions:\n",
            run->benchmark->name, run->benchmark->summary);
    bc_options_help(stream, &run->options);
}

/* Prints the help, or the version. The help tells the defaults, whatever was read. */
static void print_answer(struct bc_run *run, bool help)
{
    if (!help) {
        printf("%s (commcost) %s\n", run->benchmark->name, COMMCOST_VERSION);
        return;
    }
    (void)bc_options_decode(&run->options, run->defaults);
    bc_run_help(stdout, run);
}

/* True if help or version was asked for; then it has been printed. */
static bool answered_without_mpi(struct bc_run *run, int argc, char **argv)
{
    bool help = false, version = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char usage[] = {'-', run->benchmark->usage_option, '\0'};
        help = help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
               (usage[1] != '\0' && strcmp(argv[i], usage) == 0);
        version = version || strcmp(argv[i], "--version") == 0;
    }
    if (!help && !version)
        return false;
    if (prints_before_init())
        print_answer(run, help);
    return true;
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* Frees what bc_run_begin made and finalizes MPI; the program will return the status.
   Collective. */
static void leave(struct bc_run *run, int status)
{
    bc_start_window_destroy(run->window);
    bc_job_free(&run->job);
    bc_run_release(run);
    bc_finalize(status);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Agrees on whether all is well on rank 0, where `error` holds what is wrong
   if not, and prints that. Collective. */
static bool agree(const struct bc_run *run, bool good, const struct bc_error *error)
{
    int all_good = good;
    BC_MPI(MPI_Bcast(&all_good, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (!all_good && run->job.rank == 0)
        fprintf(stderr, "%s: %s\n", run->benchmark->name, error->text);
    return all_good;
}

/* Parses on rank 0 and gives every rank the result. Collective. */
static bool read_options(struct bc_run *run, int argc, char **argv)
{
    struct bc_error error = {""};
    const bool root = run->job.rank == 0;
    bool good = true;
    if (root)
        good = bc_run_accept(run, argc, argv, lookup_variable, &error);
    if (!agree(run, good, &error))
        return false;
    char *text = root ? bc_options_encode(&run->options) : NULL;
    int length = text != NULL ? (int)strlen(text) + 1 : 0;
    BC_MPI(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (!root)
        text = malloc((size_t)length);
    if (text == NULL || length == 0)
        bc_abort("no memory for the options");
    BC_MPI(MPI_Bcast(text, length, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (!root && !bc_options_decode(&run->options, text))
        bc_abort("could not read the options of rank 0");
    free(text);
    return true;
}

/* Collective. */
static bool start_clock(struct bc_run *run)
{
    struct bc_error error = {""};
    int good = bc_clock_select((enum bc_clock_kind)run->settings.timer);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!good)
        bc_error_set(&error, "--timer: this machine's time stamp counter is "
                             "not invariant: use monotonic or wtime");
    if (!agree(run, good, &error))
        return false;
    run->own_clock = bc_clock_measure();
    double cost[2] = {run->own_clock.read_ns, run->own_clock.resolution_ns};
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, cost, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    run->max_clock = (struct bc_clock_cost){cost[0], cost[1]};
    return true;
}

/* Opens what rank 0 writes. Collective. */
static bool open_files(struct bc_run *run)
{
    struct bc_error error = {""};
    const bool good = run->job.rank != 0 || bc_run_open_files(run, &error);
    return agree(run, good, &error);
}

static void write_parameters(struct bc_run *run)
{
    for (size_t i = 0; i < run->options.count; i++) {
        const struct bc_option *const option = &run->options.rows[i];
        if (option->internal)
            continue;
        char *const value = bc_option_text(option);
        if (value == NULL)
            bc_abort("no memory for the metadata");
        bc_output_meta(run->output, option->long_name, "%s", value[0] != '\0' ? value : "NA");
        free(value);
    }
    for (size_t i = 0; i < run->options.count; i++) {
        const struct bc_option *const option = &run->options.rows[i];
        if (option->source != BC_FROM_ENVIRONMENT)
            continue;
        char variable[128];
        snprintf(variable, sizeof variable, "%.*s", (int)option->variable_length, option->variable);
        bc_output_meta(run->output, "environment", "%s=%s", variable, lookup_variable(variable));
    }
}

static void write_head(struct bc_run *run, int argc, char **argv)
{
    if (run->output == NULL)
        return;
    static const char *const clocks[] = {"monotonic", "tsc", "wtime"};
    bc_metadata_write_program(run->output, run->benchmark->name, argc, argv);
    bc_metadata_write(run->output, &run->job, run->thread_level);
    bc_output_meta(run->output, "clock", "%s", clocks[run->settings.timer]);
    bc_output_meta(run->output, "clock_cost_ns", "%.1f", run->max_clock.read_ns);
    bc_output_meta(run->output, "clock_resolution_ns", "%.1f", run->max_clock.resolution_ns);
    write_parameters(run);
    if (run->window != NULL)
        bc_start_window_describe(run->window, run->output);
    bc_output_header(run->output);
}

/* Whether everything so far could be written. Collective. */
static bool agree_on_output(const struct bc_run *run)
{
    int good = bc_output_good(run->output);
    BC_MPI(MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return good;
}

/* MPI must be told before it can bring rank 0's options to all ranks, so each
   one looks at its own; what is wrong with them is said after MPI_Init. */
static int wanted_thread_level(struct bc_run *run, int argc, char **argv)
{
    struct bc_error ignored;
    const struct bc_benchmark *const benchmark = run->benchmark;
    if (benchmark->threads == NULL)
        return benchmark->thread_level;
    bc_options_parse(&run->options, argc, argv, lookup_variable, &ignored);
    return *benchmark->threads > 1 ? MPI_THREAD_MULTIPLE : benchmark->thread_level;
}

bool bc_run_begin(struct bc_run *run, const struct bc_benchmark *benchmark, int argc, char **argv,
                  int *status)
{
    *status = BC_EXIT_FAILED;
    if (!bc_run_prepare(run, benchmark)) {
        fprintf(stderr, "%s: out of memory\n", benchmark->name);
        return false;
    }
    if (answered_without_mpi(run, argc, argv)) {
        bc_run_release(run);
        *status = fflush(stdout) == 0 ? BC_EXIT_DONE : BC_EXIT_FAILED;
        return false;
    }
    int provided;
    bc_shared_memory_watch(prints_before_init());
    MPI_Init_thread(&argc, &argv, wanted_thread_level(run, argc, argv), &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    run->start_s = bc_elapsed_s();
    bc_job_describe(&run->job);
    bc_harness_choose(run->job.oversubscribed);
    BC_MPI(MPI_Allreduce(&provided, &run->thread_level, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    run->memory_per_rank = bc_job_memory_per_rank(&run->job);
    run->shared_memory_per_rank = bc_job_shared_memory_per_rank(&run->job);
    const bool usable = read_options(run, argc, argv);
    /* Asked for by an abbreviation, or in a bundle of short options. */
    const bool asked = usable && (run->settings.help || run->settings.version);
    if (!usable || asked || !start_clock(run) || !open_files(run)) {
        if (asked && run->job.rank == 0)
            print_answer(run, run->settings.help);
        *status = asked ? BC_EXIT_DONE : BC_EXIT_USAGE;
        leave(run, *status);
        return false;
    }
    bc_interrupt_watch();
    if (run->settings.sync == BC_SYNC_WINDOW)
        run->window = bc_start_window_create(&run->job, &run->max_clock, FIND_CLOCK_S);
    write_head(run, argc, argv);
    /* Nothing is measured that can't be written. */
    if (!agree_on_output(run)) {
        if (run->job.rank == 0)
            bc_run_close_files(run, BC_EXIT_FAILED);
        leave(run, BC_EXIT_FAILED);
        return false;
    }
    bc_contention_begin(&run->contention, NULL);
    return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

double bc_run_row_seconds(const struct bc_run *run, int64_t rows_left)
{
    const bool time_given = bc_option_given(&run->options, "max-time");
    if (time_given)
        return run->settings.max_time_s;
    if (run->settings.samples > 0)
        return INFINITY;
    const double left_s = run->budget_s - (bc_elapsed_s() - run->start_s);
    const double share_s = left_s / (double)(rows_left > 0 ? rows_left : 1);
    return fmax(0.0, fmin(run->settings.max_time_s, share_s));
}

/* Of ranks that share processors, some are late for every start. */
static int64_t retakes(const struct bc_run *run)
{
    const struct bc_settings *const s = &run->settings;
    if (run->job.oversubscribed)
        return 0;
    return RETAKES * (s->samples > 0 ? s->samples : s->max_samples);
}

struct bc_plan bc_run_plan(const struct bc_run *run, double seconds)
{
    const struct bc_settings *const s = &run->settings;
    const bool fixed = s->samples > 0;
    /* What there is no time to look for is not looked for. */
    const bool settles = s->warmup >= 0 || seconds > 0.0;
    return (struct bc_plan){
        .min_rounds = fixed ? s->samples : s->min_samples,
        .max_rounds = fixed ? s->samples : s->max_samples,
        .deadline_s = bc_elapsed_s() + seconds,
        .least_rounds = LEAST_SAMPLES,
        .grace_s = isfinite(seconds) ? GRACE_SHARE * seconds : 0.0,
        .warmup_rounds = settles ? s->warmup : 0,
        .retakes = retakes(run),
    };
}

struct bc_summary bc_run_summarize(const struct bc_run *run, const struct bc_samples *samples,
                                   int quantity)
{
    return bc_samples_summarize(samples, quantity, (enum bc_estimator)run->settings.estimator,
                                run->settings.confidence_pct / 100.0);
}

struct bc_summary bc_run_summarize_difference(const struct bc_run *run,
                                              const struct bc_samples *samples, int quantity,
                                              int subtrahend)
{
    return bc_samples_summarize_difference(samples, quantity, subtrahend,
                                           (enum bc_estimator)run->settings.estimator,
                                           run->settings.confidence_pct / 100.0);
}

/* When quantity 0, or what it has more than another one, is known well enough. */
struct precision_rule {
    const struct bc_run *run;
    int subtrahend; /* -1: none */
    struct bc_stopping stopping;
};

static struct bc_summary summarize_by_rule(const struct precision_rule *rule,
                                           const struct bc_samples *samples)
{
    return bc_run_summarize_difference(rule->run, samples, 0, rule->subtrahend);
}

static bool is_precise(const struct bc_samples *samples, void *context)
{
    struct precision_rule *const rule = context;
    const struct bc_summary summary = summarize_by_rule(rule, samples);
    return bc_stopping_look(&rule->stopping, &summary);
}

static bool sample(const struct bc_run *run, struct bc_sampler *sampler,
                   const struct bc_source *source, int subtrahend, double seconds,
                   struct bc_summary *summary)
{
    struct precision_rule rule = {
        run, subtrahend, {.precision = run->settings.precision_pct / 100.0}};
    struct bc_plan plan = bc_run_plan(run, seconds);
    if (plan.min_rounds < plan.max_rounds) {
        plan.settled = is_precise;
        plan.context = &rule;
    }
    const enum bc_end end = bc_sampler_run(sampler, source, &plan);
    if (run->job.rank == 0)
        *summary = summarize_by_rule(&rule, bc_sampler_samples(sampler));
    return end == BC_END_SETTLED;
}

bool bc_run_sample(const struct bc_run *run, struct bc_sampler *sampler,
                   const struct bc_source *source, double seconds, struct bc_summary *summary)
{
    return sample(run, sampler, source, -1, seconds, summary);
}

bool bc_run_sample_difference(const struct bc_run *run, struct bc_sampler *sampler,
                              const struct bc_source *source, double seconds,
                              struct bc_summary *summary)
{
    return sample(run, sampler, source, 1, seconds, summary);
}

/* Says so if what was sampled since the last row had to take missed starts. */
static void warn_of_late_starts(struct bc_run *run)
{
    struct bc_starts *const starts = bc_start_window_starts(run->window);
    if (starts == NULL || starts->used == 0)
        return;
    bc_output_remark(run->output, "warning",
                     "row %lld: in %lld rounds behind it a rank started late, "
                     "and there were too few others",
                     (long long)run->rows, (long long)starts->used);
    starts->used = 0;
}

bool bc_run_row(struct bc_run *run, const struct bc_row *row)
{
    run->rows++;
    bc_contention_row(&run->contention, &run->job, run->output, run->rows);
    int flags[2] = {bc_interrupt_signal(), 0}; /* signal, output lost */
    if (run->job.rank == 0) {
        warn_of_late_starts(run);
        bc_output_row(run->output, row);
        flags[1] = !bc_run_files_good(run);
        for (size_t i = 0; i < row->table->count; i++)
            if (strcmp(row->table->columns[i].name, "status") == 0 &&
                strcmp(row->cells[i], "FAIL") == 0)
                run->failed = true;
    }
    bc_harness_allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (flags[0] != 0) {
        run->signal = flags[0];
        bc_output_remark(run->output, "warning", "interrupted by %s",
                         bc_interrupt_name(run->signal));
    }
    return flags[0] == 0 && flags[1] == 0;
}

void bc_run_dump(const struct bc_run *run, const char *quantity, const double *values, size_t count)
{
    if (run->dump == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        fprintf(run->dump, "%lld\t%s\t%zu\t%.1f\n", (long long)run->rows + 1, quantity, i + 1,
                values[i]);
}

void bc_row_time(struct bc_row *row, const char *quantity, const struct bc_summary *summary)
{
    const struct {
        const char *suffix;
        double ns;
    } cells[] = {
        {"us", summary->value},   {"lo_us", summary->interval.lo}, {"hi_us", summary->interval.hi},
        {"p99_us", summary->p99}, {"max_us", summary->max},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char name[BC_CELL_LENGTH];
        snprintf(name, sizeof name, "%s_%s", quantity, cells[i].suffix);
        /* An operation that the clock can't see took no time, not less. */
        const double us = cells[i].ns * 1e-3;
        bc_row_real(row, name, us < 0.0 ? 0.0 : us);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

int bc_run_end(struct bc_run *run)
{
    int status = run->failed || run->signal != 0 ? BC_EXIT_FAILED : BC_EXIT_DONE;
    if (run->window != NULL)
        bc_start_window_conclude(run->window, run->output);
    bc_contention_end(&run->contention, &run->job, run->output);
    if (run->job.rank == 0)
        status = bc_run_close_files(run, status);
    bc_harness_bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    leave(run, status);
    return status;
}
