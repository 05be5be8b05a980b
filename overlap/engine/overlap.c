#include "overlap/engine/overlap.h"

#include "common/mpi/harness.h"
#include "overlap/engine/columns.h"

#include <math.h>
#include <stdio.h>

/* The time-driven model looks for its size no longer than this. */
#define GROWTH_S 2.0

/* Sizes of a run with defaults need no larger buffers on a rank, so that on many ranks an operation
   with a block for each other one takes no more than about a tenth of a second of a node's network.
 */
#define DEFAULT_BUFFER_BYTES (64.0 * 1048576.0)

/* A warning says so if the work's rate drifted by more than this. */
#define DRIFT_WARNING_PCT 5.0

/* A size whose operation takes less than this share of the cutoff time was found by mistake:
   something slowed the search down. */
#define CUTOFF_SHARE 0.5

/* Of the data-driven model, where the sizes are the same in every launch. */
static const struct bc_column data_driven_columns[] = OVERLAP_COLUMNS(BC_KEY, BC_KEY, BC_LESS, );

/* Of the time-driven model: a launch finds the size that takes the cutoff time, so that is a
   result, and the time of one size can't be compared with another's. */
static const struct bc_column time_driven_columns[] = OVERLAP_COLUMNS(BC_MORE, BC_INFO, BC_INFO, );

/* ---- usage ----------------------------------------------------------------------------------- */

/* Data-driven where the collective has no size to find. */
static bool is_data_driven(const struct overlap_parameters *parameters)
{
    return parameters->data_driven || parameters->kind->no_elements;
}

/* What `elements` don't fit into; NULL: they fit. */
static const char *what_is_too_small(const struct overlap_parameters *p, const struct bc_run *run,
                                     int64_t elements)
{
    const struct overlap_shape shape = {
        .ranks = run->job.ranks, .root = (int)p->root, .elements = elements};
    const bool asked =
        elements <= p->min_elements || bc_option_given(&run->options, "max-num-elts");
    const double bytes = overlap_bytes(p->kind, &shape);
    if (bytes > bc_run_usable_bytes(run, BC_MEMORY_SHARE, false))
        return "memory";
    if (!overlap_can_start(p->kind, &shape))
        return "what this MPI library can count";
    return !asked && bytes > DEFAULT_BUFFER_BYTES ? "the 64 MiB that a rank takes by default"
                                                  : NULL;
}

/* The largest power of two that fits, or the fewest elements if only these do. */
static int64_t largest_that_fits(const struct overlap_parameters *p, const struct bc_run *run)
{
    int64_t max = 1;
    while (max <= p->max_elements / 2 && what_is_too_small(p, run, 2 * max) == NULL)
        max *= 2;
    return max < p->min_elements && what_is_too_small(p, run, p->min_elements) == NULL
               ? p->min_elements
               : max;
}

static bool fit_sizes(struct overlap_state *overlap, const struct bc_run *run,
                      struct bc_error *error)
{
    struct overlap_parameters *const p = &overlap->parameters;
    if (p->kind->no_elements)
        return true;
    if (p->min_elements > p->max_elements)
        return bc_error_set(error,
                            "--min-num-elts: %lld is more than --max-num-elts, %lld: lower the one "
                            "or raise the other",
                            (long long)p->min_elements, (long long)p->max_elements);
    const char *const obstacle = what_is_too_small(p, run, p->max_elements);
    if (obstacle == NULL)
        return true;
    const int64_t max = largest_that_fits(p, run);
    if (!bc_option_given(&run->options, "max-num-elts") && max >= p->min_elements) {
        overlap->obstacle = what_is_too_small(p, run, 2 * max);
        p->max_elements = max;
        return true;
    }
    return bc_error_set(
        error, "--max-num-elts: %lld elements on %d ranks do not fit into %s: use at most %lld",
        (long long)p->max_elements, run->job.ranks, obstacle, (long long)max);
}

static bool fit_form(struct overlap_state *overlap, struct bc_error *error)
{
    struct overlap_parameters *const p = &overlap->parameters;
    if (p->form == OVERLAP_NONBLOCKING || p->kind->variants_have_forms ||
        overlap_has_form(p->kind, OVERLAP_PERSISTENT))
        return true;
    if (p->form == OVERLAP_FORMS) {
        p->form = OVERLAP_NONBLOCKING;
        overlap->lacks_persistent = true;
        return true;
    }
    if (p->kind->persistent_function == NULL)
        return bc_error_set(error, "--form: there is no persistent form of %s: use nonblocking",
                            p->kind->name);
    return bc_error_set(error,
                        "--form: this MPI library has no %s that can be started again: use "
                        "nonblocking",
                        p->kind->persistent_function);
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
        return bc_error_set(error, "an operation needs at least 2 processes, "
                                   "got 1: use mpirun -np 2 or more" BC_LAUNCHER_HINT);
    if (p->root >= run->job.ranks)
        return bc_error_set(error, "--root: %lld is not in the job: use 0 to %d",
                            (long long)p->root, run->job.ranks - 1);
    if (p->max_iterations > 0 && p->default_iterations > p->max_iterations)
        return bc_error_set(error,
                            "--default-tdm-n-iters: %lld is more than --max-tdm-iters, %lld: lower "
                            "the one or raise the other",
                            (long long)p->default_iterations, (long long)p->max_iterations);
    apply_iterations(p, run);
    return fit_form(overlap, error) && fit_sizes(overlap, run, error);
}

/* Where a variant says its form by itself, each has one row. */
static bool is_wanted(const struct overlap_parameters *p, int form)
{
    if (p->kind->variants_have_forms)
        return form == OVERLAP_NONBLOCKING;
    return p->form == OVERLAP_FORMS || p->form == form;
}

/* The time of the quickest of a few operations, the longest of all ranks that work. Collective. */
static double first_reference_ns(const struct overlap_parameters *p, const struct bc_run *run,
                                 const struct overlap_choice *choice)
{
    enum { OPERATIONS = 5 };
    struct overlap_operation operation;
    double own_ns = INFINITY, max_ns;
    overlap_operation_create(&operation, p->kind, &run->job, choice);
    for (int i = 0; i < OPERATIONS; i++) {
        bc_harness_barrier(operation.comm);
        const int64_t start_ns = bc_now_ns();
        if (operation.works) {
            operation.start(&operation);
            operation.finish(&operation);
        } else {
            p->kind->serve(&operation);
        }
        own_ns = fmin(own_ns, (double)(bc_now_ns() - start_ns));
    }
    if (!operation.works)
        own_ns = 0.0;
    overlap_operation_destroy(&operation);
    bc_harness_allreduce(&own_ns, &max_ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return max_ns;
}

/* The max number of parts into which options ask to cut the work. */
static int64_t max_parts(const struct overlap_state *overlap)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    int64_t max_calls = 0;
    if (overlap->parts_option != NULL)
        return overlap->max_parts;
    for (int i = 0; i < p->test_calls_count; i++)
        if (p->test_calls[i] > max_calls)
            max_calls = p->test_calls[i];
    return max_calls + 1;
}

/* The max number of parts into which plenty of work under such an operation can be cut. */
static int64_t possible_parts(const struct overlap_parameters *p, double reference_ns)
{
    struct bc_work_rate rate = bc_work_calibrate();
    rate.call_ns = fmax(0.0, rate.call_ns); /* below 0 it would make units out of nothing */
    const uint64_t units = bc_work_units(&rate, p->plenty * reference_ns);
    return units > 0 ? (int64_t)units : 1;
}

static bool cuts_too_fine(const struct overlap_state *overlap, double reference_ns)
{
    return max_parts(overlap) > possible_parts(&overlap->parameters, reference_ns);
}

bool overlap_probe_choices(struct overlap_state *overlap, struct bc_run *run,
                           const struct overlap_choice *choices, size_t count, bool chosen,
                           struct bc_error *error)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const bool data_driven = is_data_driven(p), calls = overlap->parts_option == NULL;
    const int64_t asked = max_parts(overlap);
    double reference_ns = data_driven ? INFINITY : p->cutoff_ms * 1e6;
    if (asked == 1)
        return true;
    for (size_t i = 0; data_driven && i < count; i++)
        reference_ns = fmin(reference_ns, first_reference_ns(p, run, &choices[i]));
    const int64_t possible = possible_parts(p, reference_ns);
    overlap->cuts_too_fine = asked > possible;
    if (!overlap->cuts_too_fine || !chosen)
        return true;
    return bc_error_set(error,
                        "%s: the work under an operation of %.4g us can't be cut into %lld parts: "
                        "use at most %lld, or %s, or more --plenty",
                        calls ? "--test-calls" : overlap->parts_option, reference_ns * 1e-3,
                        (long long)asked, (long long)(calls ? possible - 1 : possible),
                        data_driven ? "larger sizes" : "a longer --cutoff-time");
}

/* In the time-driven model a note tells, too, if no size takes the cutoff time. */
bool overlap_probe(struct overlap_state *overlap, struct bc_run *run, struct bc_error *error)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const bool chosen = !is_data_driven(p) || p->kind->no_elements ||
                        bc_option_given(&run->options, "min-num-elts");
    struct overlap_choice choices[OVERLAP_FORMS];
    size_t count = 0;
    for (int form = 0; form < OVERLAP_FORMS; form++)
        if (is_wanted(p, form))
            choices[count++] =
                (struct overlap_choice){.form = (enum overlap_form)form,
                                        .root = (int)p->root,
                                        .elements = p->kind->no_elements ? 0 : p->min_elements};
    return overlap_probe_choices(overlap, run, choices, count, chosen, error);
}

/* ---- what the rows share --------------------------------------------------------------------- */

static void note_fine_cuts(const struct overlap_state *overlap)
{
    bc_output_remark(overlap->run->output, "note",
                     "in rows of the smallest sizes the work can't be cut into as many parts as %s "
                     "asks for: some %s",
                     overlap->parts_option == NULL ? "--test-calls" : overlap->parts_option,
                     overlap->parts_option == NULL ? "calls follow one another without work"
                                                   : "parts are without work");
}

/* The number of calls of MPI_Test is looked for before anything else. */
static int shares_of(const struct overlap_parameters *p)
{
    return p->test_calls[0] == OVERLAP_AUTO ? 2 : 1;
}

void overlap_open(struct overlap_state *overlap, struct bc_run *run)
{
    overlap->run = run;
    run->row_shares = shares_of(&overlap->parameters);
    overlap->first_rate = overlap->rate = bc_work_calibrate();
    if (overlap->parameters.kind->describe != NULL)
        overlap->parameters.kind->describe(run);
    bc_output_remark(run->output, "note", "work: %.4f ns a unit", overlap->rate.ns_per_unit);
    if (overlap->obstacle != NULL)
        bc_output_remark(run->output, "note",
                         "the largest size is %lld elements: with %d ranks more do not fit into %s",
                         (long long)overlap->parameters.max_elements, run->job.ranks,
                         overlap->obstacle);
    if (overlap->lacks_persistent)
        bc_output_remark(run->output, "note", "no rows of the form persistent: %s%s",
                         overlap->parameters.kind->persistent_function == NULL
                             ? "there is none of "
                             : "this MPI library lacks, or starts only once, ",
                         overlap->parameters.kind->persistent_function == NULL
                             ? overlap->parameters.kind->name
                             : overlap->parameters.kind->persistent_function);
    if (overlap->cuts_too_fine)
        note_fine_cuts(overlap);
}

void overlap_close(const struct overlap_state *overlap)
{
    const double before = overlap->first_rate.ns_per_unit;
    const double after = bc_work_calibrate().ns_per_unit;
    const double drift_pct = before > 0.0 ? 100.0 * fabs(after / before - 1.0) : 0.0;
    double max_pct = 0.0;
    bc_harness_reduce(&drift_pct, &max_pct, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    overlap_progress_note(&overlap->progress, overlap->run->output);
    if (max_pct > DRIFT_WARNING_PCT)
        bc_output_remark(overlap->run->output, "warning",
                         "the work's rate drifted by %.1f %% on a rank during the run: the "
                         "processor's clock rate or its load changed",
                         max_pct);
}

/* ---- the rows of the two models -------------------------------------------------------------- */

/* The next size of a doubling sweep, which ends on the largest; 0 after it. */
static int64_t next_elements(const struct overlap_parameters *p, int64_t elements)
{
    if (elements >= p->max_elements)
        return 0;
    return elements > p->max_elements / 2 ? p->max_elements : 2 * elements;
}

/* The operation's time at a size, from a few until end_s, the same on every rank. Collective. */
static double quick_reference_ns(struct overlap_state *overlap, int64_t elements,
                                 const void *variant, double end_s)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    struct overlap_operation operation;
    const struct overlap_choice choice = {
        .root = (int)p->root, .elements = elements, .variant = variant};
    overlap_operation_create(&operation, p->kind, &overlap->run->job, &choice);
    const double reference_ns =
        overlap_quick_reference_ns(overlap, &operation, end_s - bc_elapsed_s());
    overlap_operation_destroy(&operation);
    if (p->verbose)
        bc_output_remark(overlap->run->output, "verbose", "%lld elements: %.3f us, cutoff %.3f us",
                         (long long)elements, reference_ns * 1e-3, p->cutoff_ms * 1e3);
    return reference_ns;
}

/* Grows the size until the operation takes the cutoff time, twice if there is time: something may
   slow a small operation down for a moment. Collective; the same on every rank. */
static struct overlap_key find_size(struct overlap_state *overlap, const void *variant)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const double cutoff_ns = p->cutoff_ms * 1e6;
    const double end_s = bc_elapsed_s() + GROWTH_S;
    int64_t elements = p->min_elements;
    for (bool again = false;;) {
        const double reference_ns = quick_reference_ns(overlap, elements, variant, end_s);
        const bool takes_it = reference_ns >= cutoff_ns;
        int late = bc_elapsed_s() >= end_s;
        if (late && !takes_it)
            bc_output_remark(overlap->run->output, "note",
                             "the search for a size that takes the cutoff time ended after %g s",
                             GROWTH_S);
        bc_harness_bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (takes_it && (again || late))
            return (struct overlap_key){.elements = elements, .status = BC_OK};
        again = takes_it;
        if (takes_it)
            continue;
        const int64_t larger = late ? 0 : next_elements(p, elements);
        if (larger == 0) {
            if (cuts_too_fine(overlap, reference_ns))
                note_fine_cuts(overlap);
            return (struct overlap_key){.elements = elements, .status = BC_MAX_SIZE};
        }
        elements = larger;
    }
}

/* Adds the rows of a size. */
static void add_rows(struct overlap_state *overlap, struct overlap_key key, size_t count,
                     const char *variants, size_t bytes)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    for (size_t variant = 0; variant < count; variant++)
        for (int form = 0; form < OVERLAP_FORMS; form++)
            for (int i = 0; i < p->test_calls_count; i++) {
                if (!is_wanted(p, form))
                    continue;
                key.form = (enum overlap_form)form;
                key.test_calls = p->test_calls[i];
                key.variant = variants != NULL ? variants + variant * bytes : NULL;
                ((struct overlap_row *)bc_add_row(overlap->run))->key = key;
            }
}

void overlap_list_rows(struct overlap_state *overlap, size_t count, const void *variants,
                       size_t bytes)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    struct overlap_key key = {.elements = 0, .status = BC_OK};
    if (p->kind->no_elements) {
        add_rows(overlap, key, count, variants, bytes);
    } else if (p->data_driven) {
        for (key.elements = p->min_elements; key.elements > 0;
             key.elements = next_elements(p, key.elements))
            add_rows(overlap, key, count, variants, bytes);
    } else {
        add_rows(overlap, find_size(overlap, variants), count, variants, bytes);
    }
}

/* ---- one row --------------------------------------------------------------------------------- */

/* The bytes of one block; the mean over ranks where they differ. */
static double size_bytes(const struct overlap_operation *operation)
{
    const struct overlap_shape *const shape = &operation->shape;
    const int64_t bytes = (int64_t)sizeof(double);
    if (!overlap_varies(operation->kind))
        return (double)(bytes * shape->elements);
    return (double)(bytes * overlap_all_amounts(shape)) / shape->ranks;
}

void overlap_measure(struct overlap_state *overlap, struct bc_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_key *const key = &row->key;
    struct overlap_operation operation;
    const struct overlap_choice choice = {.form = key->form,
                                          .root = (int)overlap->parameters.root,
                                          .elements = key->elements,
                                          .variant = key->variant};
    overlap_operation_create(&operation, overlap->parameters.kind, &overlap->run->job, &choice);
    overlap_visit_operation(overlap, &operation, key->test_calls, visit->seconds, row);
    row->size_bytes = size_bytes(&operation);
    visit->is_precise = overlap->run->job.rank == 0 && overlap_row_is_precise(overlap, row);
    overlap_operation_destroy(&operation);
}

/* With less work than the operation takes, or on shared processors, a row doesn't say who makes
   progress. */
static void judge_progress(struct overlap_state *overlap, const struct overlap_row *row,
                           const struct overlap_result *result)
{
    const struct overlap_key *const key = &row->key;
    if (overlap->parameters.plenty < 1.0 || overlap->run->job.oversubscribed ||
        isnan(result->gain.exposed.interval.lo))
        return;
    const struct overlap_progress_row judged = {
        .size_bytes = result->size_bytes,
        .variant = key->variant,
        .test_calls = row->test_calls,
        .searched = key->test_calls == OVERLAP_AUTO,
        .reference_ns = result->reference.value,
        .exposed_ns = result->gain.exposed.value,
        .exposed_without_calls_ns = row->exposed_without_calls_ns,
        .partner_is_in_mpi = overlap->parameters.kind->serve != NULL,
        .takes_test_calls = row->parts == row->test_calls + 1,
    };
    overlap_progress_add(&overlap->progress, &judged);
}

void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const struct overlap_key *const key = &row->key;
    int64_t all_wrong = 0; /* on rank 0 */
    bc_harness_reduce(&row->wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    overlap_conclude_row(overlap, row, result);
    result->collective = p->kind->name;
    result->model = is_data_driven(p) ? "data" : "time";
    result->form = overlap_form_names[key->form];
    result->best_test_calls = BC_NO_INTEGER;
    if (key->test_calls == OVERLAP_AUTO) {
        (void)snprintf(result->test_calls, sizeof result->test_calls, "auto");
        result->best_test_calls = row->test_calls;
    } else {
        (void)snprintf(result->test_calls, sizeof result->test_calls, "%lld",
                       (long long)key->test_calls);
    }
    result->elements = p->kind->no_elements ? BC_NO_INTEGER : key->elements;
    result->size_bytes = row->size_bytes;
    if (key->status != BC_OK)
        result->outcome.status = key->status;
    if (all_wrong > 0) {
        result->outcome.status = BC_FAIL;
        bc_output_remark(overlap->run->output, "warning",
                         "wrong data in %lld operations, counted over ranks", (long long)all_wrong);
    }
    if (overlap->run->job.rank == 0 && key->form == OVERLAP_NONBLOCKING)
        judge_progress(overlap, row, result);
    const double reference_us = result->reference.value * 1e-3;
    if (!is_data_driven(p) && key->status == BC_OK &&
        reference_us < CUTOFF_SHARE * p->cutoff_ms * 1e3)
        bc_output_remark(overlap->run->output, "warning",
                         "the operation took %.3f us here, and the cutoff time when its size was "
                         "searched for: something was in the way then; run it again",
                         reference_us);
}

/* ---- a program whose rows are sizes ---------------------------------------------------------- */

int overlap_main(const struct bc_program *program, int argc, char **argv)
{
    struct overlap_state overlap;
    struct bc_error error = {""};
    struct bc_run *const run = bc_start(program, &overlap, argc, argv);
    const bool good = overlap_probe(&overlap, run, &error);
    bc_require(run, good, &error);
    bc_open_result(run,
                   is_data_driven(&overlap.parameters) ? data_driven_columns : time_driven_columns,
                   sizeof data_driven_columns / sizeof *data_driven_columns);
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
    return bc_finish(run);
}
