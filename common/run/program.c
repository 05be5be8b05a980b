/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/internal.h"

#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/job/launcher.h"
#include "common/job/limits.h"
#include "common/job/metadata.h"
#include "common/result/warnings.h"

#include "build_info.h"

#include <mpi.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Time in which the shared clock is found. */
#define FIND_CLOCK_S 1.0

/* ---- options --------------------------------------------------------------------------------- */

static const char *lookup_variable(const char *name) { return getenv(name); }

void bc_run_prepare(struct bc_run *run, const struct bc_program *program, void *state)
{
    *run = (struct bc_run){
        .program = program,
        .own = bc_allocate(1, sizeof *run->own, "no memory for the options"),
        .settings = bc_default_settings,
        .budget_s = program->budget_s,
        .row_shares = 1,
    };
    run->settings.start = (int)program->start;
    run->own->state = state;
    memset(state, 0, program->state_bytes);
    if (program->defaults != NULL)
        memcpy(state, program->defaults, program->defaults_bytes);
    /* The program's own options come first in --help and metadata. */
    bc_options_add(&run->options, program->own_options, state);
    bc_options_add(&run->options, program->options, state);
    if (program->has_buffers)
        bc_options_add(&run->options, bc_buffers_table(), &run->settings);
    bc_options_add(&run->options, bc_settings_table(program->has_start), &run->settings);
}

void bc_run_release(struct bc_run *run)
{
    bc_options_free(&run->options);
    free(run->own->columns);
    free(run->own);
    run->own = NULL;
}

/* Lowers a default --min-samples to --max-samples. False with the error set if it still is higher.
 */
static bool check_samples(struct bc_run *run, struct bc_error *error)
{
    struct bc_settings *const s = &run->settings;
    if (s->min_samples > s->max_samples && !bc_option_given(&run->options, "min-samples"))
        s->min_samples = s->max_samples;
    return s->min_samples <= s->max_samples ||
           bc_error_set(error,
                        "--min-samples: %lld is more than --max-samples, %lld: lower the one or "
                        "raise the other",
                        (long long)s->min_samples, (long long)s->max_samples);
}

/* --no-metadata means --metadata=none. If both options are given, the last one wins. */
static void settle_metadata(struct bc_run *run)
{
    const int none = bc_options_find(&run->options, "no-metadata")->place;
    if (bc_options_find(&run->options, "metadata")->place > none)
        run->settings.no_metadata = false;
}

/* Minimum number of samples of a visit with --visits=auto. */
#define VISIT_SAMPLES 5

static void settle_time_and_visits(struct bc_run *run)
{
    struct bc_settings *const s = &run->settings;
    run->counted = run->counted || (s->samples > 0 && !bc_option_given(&run->options, "samples"));
    if (s->visits == 0) {
        s->visits = run->counted || s->estimator == BC_MEAN ? 1 : BC_VISITS;
        if (s->samples > 0 && s->visits > s->samples / VISIT_SAMPLES)
            s->visits = s->samples < VISIT_SAMPLES ? 1 : s->samples / VISIT_SAMPLES;
    }
    if (s->samples > 0 && s->visits > s->samples)
        s->visits = s->samples;
    run->own->fixes_visits = bc_option_given(&run->options, "visits");
    run->own->limits_time = bc_option_given(&run->options, "max-time");
    run->own->span_s = run->own->limits_time ? fmin(BC_SPAN_S, s->max_time_s) : BC_SPAN_S;
}

bool bc_run_accept(struct bc_run *run, int argc, char *const *argv, bc_lookup_fn *lookup,
                   struct bc_error *error)
{
    const struct bc_program *const program = run->program;
    if (!bc_options_parse(&run->options, argc, argv, lookup, error) || !check_samples(run, error) ||
        !bc_placements_read(run, error) ||
        (program->complete != NULL && !program->complete(run->own->state, error)) ||
        (program->fit != NULL && !program->fit(run->own->state, run, error)))
        return false;
    settle_metadata(run);
    settle_time_and_visits(run);
    return true;
}

/* ---- help and version, without MPI ----------------------------------------------------------- */

/* Prints the help, with the defaults. */
static void print_help(struct bc_run *run)
{
    const struct bc_program *const program = run->program;
    void *const state = run->own->state;
    bc_run_release(run);
    bc_run_prepare(run, program, state);
    printf("Usage: mpirun -np RANKS %s [OPTION]...\n\n%s\n", program->name, program->summary);
    bc_options_help(stdout, &run->options, program->own_options.count + program->options.count);
}

/* Reads this rank's options for the thread level, since MPI_Init precedes the broadcast of rank 0's
   options. --help and --version take effect even after an invalid argument: if one of them is
   given, prints the help or the version and returns true. */
static bool answer_without_mpi(struct bc_run *run, int argc, char **argv)
{
    struct bc_error ignored; /* read_options reports it */
    bool *const help = &run->settings.help, *const version = &run->settings.version;
    (void)bc_options_parse(&run->options, argc, argv, lookup_variable, &ignored);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        *help = *help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        *version = *version || strcmp(argv[i], "--version") == 0;
    }
    for (size_t i = 0; i < run->options.count; i++) {
        const struct bc_option_entry *const entry = &run->options.entries[i];
        *help = *help || (entry->option->asks_help && *(const bool *)entry->value);
    }
    if (!*help && !*version)
        return false;
    if (*help && bc_launcher_is_first())
        print_help(run);
    else if (bc_launcher_is_first())
        printf("%s (commcost) %s\n", run->program->name, COMMCOST_VERSION);
    return true;
}

/* ---- leaving --------------------------------------------------------------------------------- */

static volatile sig_atomic_t exit_status;

static void exit_without_finalize(int signal_number)
{
    static const char text[] = "commcost: MPI_Finalize does not end: leaving without it\n";
    (void)signal_number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit((int)exit_status);
}

unsigned bc_finalize_seconds(int ranks)
{
    const double scaled = BC_FINALIZE_S * (double)ranks / BC_FINALIZE_RANKS;
    return ranks <= BC_FINALIZE_RANKS ? BC_FINALIZE_S : (unsigned)ceil(scaled);
}

void bc_finalize(int status)
{
    int ranks;
    struct sigaction action = {.sa_handler = exit_without_finalize};
    sigemptyset(&action.sa_mask);
    exit_status = status;
    (void)fflush(stdout); /* the handler can't */
    sigaction(SIGALRM, &action, NULL);
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    alarm(bc_finalize_seconds(ranks));
    /* MPICH 4.0.2 over TCP hangs more often when one rank still has something to
       send and the other no longer makes progress. */
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Finalize();
    alarm(0);
}

/* Frees the run and finalizes MPI; the process will end with the status. Collective. */
static void leave(struct bc_run *run, int status)
{
    bc_visits_free(run);
    bc_start_window_destroy(run->window);
    bc_job_free(&run->job);
    bc_run_release(run);
    bc_finalize(status);
}

static _Noreturn void end_early(struct bc_run *run, int status)
{
    leave(run, status);
    exit(status);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Returns rank 0's value. Collective. */
static bool is_good_on_root(bool good)
{
    int root_good = good;
    BC_MPI(MPI_Bcast(&root_good, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return root_good;
}

void bc_require(struct bc_run *run, bool good, const struct bc_error *error)
{
    if (is_good_on_root(good))
        return;
    if (run->job.rank == 0)
        fprintf(stderr, "%s: %s\n", run->program->name, error->text);
    end_early(run, BC_EXIT_USAGE);
}

/* Parses on rank 0 and broadcasts the values. Collective. */
static void read_options(struct bc_run *run, int argc, char **argv)
{
    struct bc_error error = {""};
    struct bc_text text = {0};
    const bool root = run->job.rank == 0;
    bc_require(run, root && bc_run_accept(run, argc, argv, lookup_variable, &error), &error);
    if (root)
        text = bc_options_encode(&run->options);
    /* A negative length tells all ranks to compare their environment variables. */
    int length = getenv(BC_VARIABLES) != NULL ? -(int)text.length : (int)text.length;
    BC_MPI(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD));
    run->own->compares_variables = length < 0;
    length = abs(length);
    if (!root)
        text.start = bc_allocate((size_t)length, 1, "no memory for the options");
    BC_MPI(MPI_Bcast(text.start, length, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (root)
        free(text.start);
    else if (!bc_options_decode(&run->options, text.start, (size_t)length) ||
             !bc_placements_read(run, &error) ||
             (run->program->complete != NULL && !run->program->complete(run->own->state, &error)))
        bc_abort("could not read the options of rank 0");
    run->visits = (int)run->settings.visits;
    bc_place_buffers(&run->own->placements[0].placement);
    if (run->settings.pages == BC_PAGES_HUGE)
        bc_use_huge_pages();
}

/* Collective. */
static void start_clock(struct bc_run *run)
{
    static const struct bc_error error = {
        "--timer: this machine's time stamp counter is not invariant: use monotonic or wtime"};
    int good = bc_clock_select((enum bc_clock_kind)run->settings.timer);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    bc_require(run, good, &error);
    run->own_clock = bc_clock_measure();
    double cost[2] = {run->own_clock.read_ns, run->own_clock.resolution_ns};
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, cost, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    run->max_clock = (struct bc_clock_cost){cost[0], cost[1]};
}

static void write_parameters(struct bc_run *run)
{
    for (size_t row = 0; row < run->options.count; row++) {
        const struct bc_option_entry *const entry = &run->options.entries[row];
        if (entry->option->internal)
            continue;
        char *const value = bc_option_text(entry, true);
        bc_output_meta(run->output, entry->option->long_name, "%s",
                       value[0] != '\0' ? value : "NA");
        free(value);
    }
    for (size_t row = 0; row < run->options.count; row++) {
        const struct bc_option_entry *const entry = &run->options.entries[row];
        if (entry->source == BC_FROM_ENVIRONMENT)
            bc_output_meta(run->output, "environment", "%s=%s", entry->variable,
                           lookup_variable(entry->variable));
    }
}

static void write_head(struct bc_run *run)
{
    if (run->output == NULL)
        return;
    static const char *const clocks[] = {"monotonic", "tsc", "wtime"};
    bc_metadata_write_program(run->output, run->program->name, run->own->argc, run->own->argv);
    bc_metadata_write(run->output, &run->job, run->thread_level);
    bc_output_short_meta(run->output, 1, "intervals",
                         "lo to hi: %g %% confidence, for this launch; launches differ by more",
                         run->settings.confidence_pct);
    bc_output_meta(run->output, "clock", "%s", clocks[run->settings.timer]);
    bc_output_meta(run->output, "clock_cost_ns", "%.1f", run->max_clock.read_ns);
    bc_output_meta(run->output, "clock_resolution_ns", "%.1f", run->max_clock.resolution_ns);
    bc_output_meta(run->output, "buffer_placement", "%s", run->program->placement);
    write_parameters(run);
    if (run->window != NULL)
        bc_start_window_describe(run->window, run->output);
    bc_output_header(run->output);
}

/* Ends processes that were started together but are each a job of their own. */
static void refuse_single_jobs(struct bc_run *run)
{
    if (run->job.ranks > 1 || run->job.launched <= 1 || !bc_launcher_is_mpirun())
        return;
    if (bc_launcher_is_first())
        fprintf(stderr,
                "%s: %ld processes were started, but each is a job of its own: use the launcher of "
                "this program's MPI library, %s, or prterun if the library was built for PMIx\n",
                run->program->name, run->job.launched, COMMCOST_MPIRUN);
    end_early(run, BC_EXIT_USAGE);
}

/* Initializes MPI and describes the job. Collective. */
static void join(struct bc_run *run, int argc, char **argv)
{
    int wanted = MPI_THREAD_SINGLE, provided;
    if (run->program->thread_level != NULL)
        wanted = run->program->thread_level(run->own->state);
    bc_shared_memory_watch(bc_launcher_is_first());
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    run->own->argc = argc;
    run->own->argv = argv;
    run->start_s = bc_elapsed_s();
    bc_job_describe(&run->job);
    bc_harness_choose(run->job.oversubscribed);
    BC_MPI(MPI_Allreduce(&provided, &run->thread_level, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    bc_job_find_memory(&run->job);
    refuse_single_jobs(run);
}

struct bc_run *bc_start(const struct bc_program *program, void *state, int argc, char **argv)
{
    static struct bc_run only;
    struct bc_run *const run = &only;
    bc_run_prepare(run, program, state);
    if (answer_without_mpi(run, argc, argv)) {
        bc_run_release(run);
        exit(fflush(stdout) == 0 ? BC_EXIT_DONE : BC_EXIT_FAILED);
    }
    join(run, argc, argv);
    read_options(run, argc, argv);
    start_clock(run);
    return run;
}

void bc_open_result(struct bc_run *run, const struct bc_table *table, const char *keys)
{
    struct bc_error error = {""};
    const bool has_list = run->own->placement_count > 1;
    run->own->table = bc_placements_table(run, table);
    snprintf(run->own->keys, sizeof run->own->keys, "%s%s", has_list ? "align," : "", keys);
    if (has_list && run->own->table == table)
        bc_require(run, false,
                   &(struct bc_error){"--align: these rows have no keys: use one placement"});
    bc_require(run, run->job.rank == 0 && bc_files_open(run, &error), &error);
    bc_signals_watch();
    if (run->settings.start == BC_START_WINDOW)
        run->window = bc_start_window_create(&run->job, &run->max_clock, FIND_CLOCK_S);
    write_head(run);
    if (run->own->compares_variables)
        bc_variables_compare(&run->job, run->output);
    if (!is_good_on_root(bc_output_good(run->output))) {
        if (run->job.rank == 0)
            bc_files_close(run, BC_EXIT_FAILED);
        end_early(run, BC_EXIT_FAILED);
    }
    bc_contention_begin(&run->own->contention);
}

/* ---- ending ---------------------------------------------------------------------------------- */

void bc_run_at_end(struct bc_run *run, bc_end_fn *function, void *context)
{
    run->own->end_function = function;
    run->own->end_context = context;
}

/* Collective. */
static void warn_of_small_pages(const struct bc_run *run)
{
    const int own = bc_huge_pages_are_missing();
    int ranks = 0;
    bc_harness_reduce(&own, &ranks, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (ranks > 0)
        bc_output_remark(run->output, BC_WARNING_NO_HUGE_PAGES, ranks, ranks == 1 ? "" : "s");
}

int bc_finish(struct bc_run *run)
{
    bc_end_fn *const end_function = run->own->end_function;
    void *const end_context = run->own->end_context;
    int status = run->failed || run->signal != 0 ? BC_EXIT_FAILED : BC_EXIT_DONE;
    if (run->window != NULL)
        bc_start_window_conclude(run->window, run->output);
    if (run->settings.pages == BC_PAGES_HUGE)
        warn_of_small_pages(run);
    bc_contention_end(&run->own->contention, &run->job, run->output);
    if (run->job.rank == 0)
        status = bc_files_close(run, status);
    bc_harness_bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    leave(run, status);
    if (end_function != NULL)
        end_function(end_context);
    return status;
}
