#include "overlap/engine/program.h"

#include "common/mpi/harness.h"
#include "overlap/engine/kernel.h"

#include <math.h>

/* A warning says so if the work's rate drifted by more than this. */
#define DRIFT_WARNING_PCT 5.0

/* A size whose operation takes less than this share of the cutoff time was found by mistake:
   something slowed the search down. */
#define CUTOFF_SHARE 0.5

/* A library that hides this share of an operation under work without calls makes progress by
   itself, or some; one that hides this many points more with calls makes it in calls. */
#define BY_ITSELF_PCT 50.0
#define SOME_PCT 20.0
#define IN_CALLS_POINTS 20.0

/* A row whose overlap isn't known better than this says nothing of it, nor does one whose operation
   may take no time. */
#define NOT_CLEAR_POINTS 50.0

/* ---- usage ----------------------------------------------------------------------------------- */

static bool fit_form(struct overlap_state *overlap, struct bc_error *error)
{
    struct overlap_parameters *const p = &overlap->parameters;
    if (p->form == OP_NONBLOCKING || p->kind->variants_have_forms || op_has_persistent(p->kind))
        return true;
    if (p->form == OP_FORMS) {
        p->form = OP_NONBLOCKING;
        overlap->lacks_persistent = true;
        return true;
    }
    if (p->kind->persistent_function == NULL)
        return bc_error_set(error, "--form: there is no persistent form of %s: use nonblocking",
                            p->name);
    return bc_error_set(error,
                        "--form: this MPI library has no %s that can be started again: use "
                        "nonblocking",
                        p->kind->persistent_function);
}

static bool fit_buffers(const struct overlap_parameters *p, struct bc_error *error)
{
    if (p->buffers == BC_BUFFERS_REUSED)
        return true;
    if (p->kind->send.extent == OP_NO_BUFFER)
        return bc_error_set(error, "--buffers=new: %s has no buffers that can be new: use reused",
                            p->name);
    return (p->form != OP_PERSISTENT && p->form != OP_FORMS) ||
           bc_error_set(error, "--buffers=new: a persistent request keeps its buffers: use "
                               "--form=nonblocking or --buffers=reused");
}

/* The specification's counts are sample counts under other names. */
static void apply_iterations(const struct overlap_parameters *p, struct bc_run *run)
{
    struct bc_settings *const settings = &run->settings;
    if (p->default_iterations > 0 && !bc_option_given(&run->options, "samples"))
        settings->samples = p->default_iterations;
    if (p->max_iterations > 0) {
        settings->max_samples = p->max_iterations;
        if (settings->min_samples > settings->max_samples)
            settings->min_samples = settings->max_samples;
    }
}

bool overlap_fit(void *state, struct bc_run *run, struct bc_error *error)
{
    struct overlap_state *const overlap = state;
    const struct overlap_parameters *const p = &overlap->parameters;
    if (run->job.ranks < 2)
        return bc_error_set(error, "an operation " BC_NEEDS_2_RANKS);
    if (p->root >= run->job.ranks)
        return bc_error_set(error, "--root: %lld is not in the job: use 0 to %d",
                            (long long)p->root, run->job.ranks - 1);
    if (p->max_iterations > 0 && p->default_iterations > p->max_iterations)
        return bc_error_set(error,
                            "--default-tdm-n-iters: %lld is more than --max-tdm-iters, %lld: lower "
                            "the one or raise the other",
                            (long long)p->default_iterations, (long long)p->max_iterations);
    apply_iterations(p, run);
    return fit_form(overlap, error) && fit_buffers(p, error) &&
           overlap_fit_sizes(overlap, run, error);
}

/* ---- what the rows share --------------------------------------------------------------------- */

void overlap_open_memory(struct overlap_state *overlap, struct bc_run *run)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const enum bc_memory *const of = p->memory.of;
    struct bc_error error = {""};
    const bool is_in_host_memory = of[0] == BC_MEMORY_HOST && of[1] == BC_MEMORY_HOST;
    const bool good =
        is_in_host_memory || p->kind->send.extent != OP_NO_BUFFER ||
        bc_error_set(&error, "--memory=%.80s: %s has no buffers that can lie there: use host",
                     p->memory.words, p->name);
    bc_require(run, good, &error);
    const struct op_shape largest = {
        .ranks = run->job.ranks, .root = (int)p->root, .elements = p->max_elements};
    /* Each buffer, what it is to hold, and what the pinned buffer is to hold; and a new buffer
       before the former is freed. */
    const double bytes = (p->buffers == BC_BUFFERS_NEW ? 4.0 : 3.0) * op_bytes(p->kind, &largest);
    struct bc_device *const device =
        bc_memory_open(run, &p->memory, is_in_host_memory ? 0.0 : bytes,
                       p->elements_count > 0 ? "smaller --sizes" : "a smaller --max-num-elts");
    if (p->work == OVERLAP_WORK_DEVICE)
        overlap->worker.device = device;
    if (is_in_host_memory)
        return;
    overlap->space = (struct op_space){device, of[0], of[1]};
    overlap->stage = (struct op_space){device, BC_MEMORY_PINNED, BC_MEMORY_PINNED};
}

struct bc_device *overlap_device(const struct overlap_state *overlap)
{
    return overlap->space.device != NULL ? overlap->space.device : overlap->worker.device;
}

void overlap_open(struct overlap_state *overlap, struct bc_run *run)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const char *const persistent = p->kind->persistent_function;
    overlap->run = run;
    /* The number of calls of MPI_Test is looked for before anything else. */
    run->row_shares = p->test_calls[0] == OVERLAP_AUTO ? 2 : 1;
    overlap->first_rate = overlap->rate = overlap_calibrate(&overlap->worker);
    bc_memory_describe(run, overlap_device(overlap));
    if (p->kind->describe != NULL)
        p->kind->describe(run);
    if (overlap->worker.device != NULL)
        bc_output_meta(
            run->output, "note",
            "work: a kernel of %.3f us and %.4f ns a step, while the processor is in MPI",
            overlap->rate.call_ns * 1e-3, overlap->rate.ns_per_unit);
    else
        bc_output_meta(run->output, "note", "work: %.4f ns a unit", overlap->rate.ns_per_unit);
    if (overlap->obstacle != NULL)
        bc_output_remark(run->output, "note",
                         "the largest size is %lld elements: with %d ranks more do not fit into %s",
                         (long long)p->max_elements, run->job.ranks, overlap->obstacle);
    overlap_note_size(overlap);
    if (overlap->lacks_persistent)
        bc_output_remark(run->output, "note", "no rows of the form persistent: %s%s",
                         persistent == NULL ? "there is none of "
                                            : "this MPI library lacks, or starts only once, ",
                         persistent == NULL ? p->name : persistent);
    if (overlap->cuts_too_fine)
        overlap_note_fine_cuts(overlap);
}

/* ---- progress: by itself, in MPI's calls only, or not before the wait? ----------------------- */

static double hidden_pct(double reference_ns, double exposed_ns)
{
    return 100.0 * (1.0 - exposed_ns / reference_ns);
}

void overlap_progress_add(struct overlap_progress *progress, const struct overlap_row *row,
                          const struct overlap_result *result)
{
    const double reference_ns = result->reference.value;
    const double pct = hidden_pct(reference_ns, result->gain.exposed.value);
    const void *const variant = row->choice.variant;
    if (result->overlap_hi_pct - result->overlap_lo_pct > NOT_CLEAR_POINTS ||
        row->size_bytes < OVERLAP_LARGE_BYTES || row->size_bytes < progress->size_bytes ||
        !(result->reference.interval.lo > 0.0) || isnan(pct))
        return;
    if (row->size_bytes > progress->size_bytes)
        *progress = (struct overlap_progress){.size_bytes = row->size_bytes,
                                              .variant = variant,
                                              .hidden_pct = NAN,
                                              .hidden_with_calls_pct = NAN};
    if (variant != progress->variant)
        return;
    if (row->test_calls == 0) {
        progress->hidden_pct = pct;
    } else if (!(pct <= progress->hidden_with_calls_pct)) {
        progress->hidden_with_calls_pct = pct;
        progress->calls = row->test_calls;
    }
    if (row->asked_test_calls != OVERLAP_AUTO)
        return;
    progress->searched = true; /* which has tried none, too */
    if (row->test_calls > 0 && !isnan(row->exposed_without_calls_ns))
        progress->hidden_pct = hidden_pct(reference_ns, row->exposed_without_calls_ns);
}

/* Who makes progress before the wait. */
static const char *judgement(const struct overlap_progress *progress, bool partner_is_in_mpi)
{
    const bool in_calls = progress->hidden_with_calls_pct >= progress->hidden_pct + IN_CALLS_POINTS;
    if (progress->hidden_pct >= BY_ITSELF_PCT)
        return partner_is_in_mpi ? "progress by the library, or by the partner in MPI"
                                 : "the MPI library makes progress by itself";
    if (progress->hidden_pct >= SOME_PCT)
        return in_calls ? "some progress by itself, more in calls" : "some progress by itself";
    return in_calls ? "progress in calls only" : "little or no progress before the wait";
}

void overlap_progress_note(const struct overlap_state *overlap, struct bc_output *output)
{
    const struct overlap_progress *const progress = &overlap->progress;
    char with_calls[128] = "";
    if (progress->size_bytes == 0.0 || isnan(progress->hidden_pct))
        return;
    const bool is_open = progress->hidden_pct < BY_ITSELF_PCT;
    if (is_open && !isnan(progress->hidden_with_calls_pct))
        (void)snprintf(with_calls, sizeof with_calls, ", %.0f %% with %lld %s of MPI_Test",
                       fmax(0.0, progress->hidden_with_calls_pct), (long long)progress->calls,
                       progress->calls == 1 ? "call" : "calls");
    else if (is_open && progress->searched)
        (void)snprintf(with_calls, sizeof with_calls, ", and calls of MPI_Test hide no more");
    else if (is_open && overlap->parts_option == NULL)
        (void)snprintf(with_calls, sizeof with_calls, "; try --test-calls=0,4,16");
    bc_output_remark(output, "note", "%s: work hides %.0f %% of %.0f bytes%s",
                     judgement(progress, overlap->parameters.kind->serve != NULL),
                     fmax(0.0, progress->hidden_pct), progress->size_bytes, with_calls);
}

/* ---- the result of a row --------------------------------------------------------------------- */

static void set_keys(const struct overlap_parameters *p, const struct overlap_row *row,
                     struct overlap_result *result)
{
    const bool searched = row->asked_test_calls == OVERLAP_AUTO;
    result->collective = p->name;
    result->model = overlap_is_data_driven(p) ? "data" : "time";
    result->form = op_form_names[row->choice.form];
    (void)snprintf(result->test_calls, sizeof result->test_calls, searched ? "auto" : "%lld",
                   (long long)row->asked_test_calls);
    result->best_test_calls = searched ? row->test_calls : BC_NO_INTEGER;
    result->buffers = bc_buffers_word(p->buffers);
    result->elements = p->kind->no_elements ? BC_NO_INTEGER : row->choice.elements;
    result->size_bytes = row->size_bytes;
}

/* Dumps the samples of the row; of its amounts of work, the printed one or else the largest. */
static void dump(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const int fitting = overlap_fitting_amount(overlap, row);
    const int amount = fitting != OVERLAP_NO_AMOUNT ? fitting : 0;
    bc_run_dump(run, "reference_phase", &row->reference_phase, OVERLAP_REFERENCE);
    bc_run_dump(run, "reference", &row->rounds, OVERLAP_REFERENCE);
    bc_run_dump(run, "total", &row->rounds, OVERLAP_TOTAL + amount);
    bc_run_dump(run, "work", &row->rounds, OVERLAP_WORK + amount);
    bc_run_dump(run, "beside", &row->rounds, OVERLAP_BESIDE);
    if (row->has_blocking)
        bc_run_dump(run, "blocking", &row->rounds, OVERLAP_BLOCKING);
    bc_run_dump(run, "exposed", &row->rounds, OVERLAP_EXPOSED);
}

/* On rank 0. */
static void conclude(struct overlap_state *overlap, const struct overlap_row *row,
                     struct overlap_result *result)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const struct bc_run *const run = overlap->run;
    dump(overlap, row);
    set_keys(p, row, result);
    overlap_summarize(overlap, row, result);
    result->outcome = bc_run_outcome(run, &row->rounds, overlap_row_is_precise(overlap, row));
    if (row->max_size)
        result->outcome.status = "max-size"; /* no size took the cutoff time */
    if (!overlap_is_data_driven(p) && !row->max_size &&
        result->reference.value < CUTOFF_SHARE * p->cutoff_ms * 1e6)
        bc_output_remark(run->output, "warning",
                         "the operation took %.3f us here, and the cutoff time when its size was "
                         "searched for: something was in the way then; run it again",
                         result->reference.value * 1e-3);
    /* With less work than the operation takes, with the processor in MPI all the time, or on shared
       processors, a row doesn't say who makes progress. */
    if (overlap->worker.device == NULL && row->choice.form == OP_NONBLOCKING && p->plenty >= 1.0 &&
        !run->job.oversubscribed && !isnan(result->gain.exposed.interval.lo))
        overlap_progress_add(&overlap->progress, row, result);
}

void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result)
{
    if (overlap->run->job.rank == 0)
        conclude(overlap, row, result);
    const int64_t wrong = bc_sum_wrong(row->wrong, &result->outcome);
    if (wrong > 0)
        bc_output_remark(overlap->run->output, "warning",
                         "wrong data in %lld operations, counted over ranks", (long long)wrong);
    bc_samples_free(&row->reference_phase);
    bc_samples_free(&row->rounds);
    bc_samples_free(&row->answers);
    bc_samples_free(&row->blocks);
    bc_samples_free(&row->gains);
    bc_samples_free(&row->gain_blocks);
}

/* ---- the end --------------------------------------------------------------------------------- */

void overlap_close(const struct overlap_state *overlap)
{
    const double before = overlap->first_rate.ns_per_unit;
    struct overlap_worker worker = overlap->worker;
    const double after = overlap_calibrate(&worker).ns_per_unit;
    const double drift_pct = before > 0.0 ? 100.0 * fabs(after / before - 1.0) : 0.0;
    double max_pct = 0.0;
    bc_harness_reduce(&drift_pct, &max_pct, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    overlap_progress_note(overlap, overlap->run->output);
    if (max_pct > DRIFT_WARNING_PCT)
        bc_output_remark(overlap->run->output, "warning",
                         "the work's rate drifted by %.1f %% on a rank during the run: the "
                         "%s's clock rate or its load changed",
                         max_pct, worker.device != NULL ? "GPU" : "processor");
}

/* ---- a program whose rows are sizes ---------------------------------------------------------- */

int overlap_main(const struct bc_program *program, int argc, char **argv)
{
    struct overlap_state overlap;
    struct bc_error error = {""};
    struct bc_run *const run = bc_start(program, &overlap, argc, argv);
    const struct overlap_parameters *const p = &overlap.parameters;
    overlap_open_memory(&overlap, run);
    const bool chosen = !overlap_is_data_driven(p) || p->kind->no_elements ||
                        bc_option_given(&run->options, "min-num-elts");
    const bool good = overlap_probe(&overlap, run, 1, NULL, 0, chosen, &error);
    bc_require(run, good, &error);
    overlap_find_size(&overlap, run, NULL);
    overlap_open_result(run, &overlap, NULL, 0, "size_bytes," OVERLAP_MAIN_VALUES);
    overlap_open(&overlap, run);
    overlap_list_rows(&overlap, 1, NULL, 0);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;) {
        if (visit->step == BC_MEASURE) {
            overlap_measure(&overlap, visit);
        } else {
            struct overlap_result result = {0};
            overlap_conclude(&overlap, visit->row, &result);
            bc_write_row(run, &result);
        }
    }
    overlap_close(&overlap);
    return bc_memory_finish(run, overlap_device(&overlap));
}
