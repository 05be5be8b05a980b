#include "overlap/engine/program.h"

#include "common/mpi/harness.h"

#include <math.h>

/* A warning says so if the work's rate drifted by more than this. */
#define DRIFT_WARNING_PCT 5.0

/* ---- usage ----------------------------------------------------------------------------------- */

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
    return fit_form(overlap, error) && overlap_fit_sizes(overlap, run, error);
}

/* ---- what the rows share --------------------------------------------------------------------- */

void overlap_open(struct overlap_state *overlap, struct bc_run *run)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const char *const persistent = p->kind->persistent_function;
    overlap->run = run;
    /* The number of calls of MPI_Test is looked for before anything else. */
    run->row_shares = p->test_calls[0] == OVERLAP_AUTO ? 2 : 1;
    overlap->first_rate = overlap->rate = bc_work_calibrate();
    if (p->kind->describe != NULL)
        p->kind->describe(run);
    bc_output_remark(run->output, "note", "work: %.4f ns a unit", overlap->rate.ns_per_unit);
    if (overlap->obstacle != NULL)
        bc_output_remark(run->output, "note",
                         "the largest size is %lld elements: with %d ranks more do not fit into %s",
                         (long long)p->max_elements, run->job.ranks, overlap->obstacle);
    if (overlap->lacks_persistent)
        bc_output_remark(run->output, "note", "no rows of the form persistent: %s%s",
                         persistent == NULL ? "there is none of "
                                            : "this MPI library lacks, or starts only once, ",
                         persistent == NULL ? p->kind->name : persistent);
    if (overlap->cuts_too_fine)
        overlap_note_fine_cuts(overlap);
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

/* ---- a program whose rows are sizes ---------------------------------------------------------- */

int overlap_main(const struct bc_program *program, int argc, char **argv)
{
    struct overlap_state overlap;
    struct bc_error error = {""};
    struct bc_run *const run = bc_start(program, &overlap, argc, argv);
    const bool good = overlap_probe(&overlap, run, &error);
    bc_require(run, good, &error);
    overlap_open_result(run, &overlap.parameters, NULL, 0,
                        "size_bytes,ref_us,work_us," OVERLAP_MAIN_VALUES);
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
