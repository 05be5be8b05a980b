/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/result.h"

#include "common/mpi/harness.h"
#include "overlap/engine/sizes.h"
#include "overlap/warnings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

/* Roles in the data-driven model, whose sizes are the same in every launch. */
static const struct bc_column columns[] = {
    BC_COLUMN("collective", BC_RUN_KEY, 0, overlap_result, collective),
    BC_COLUMN("model", BC_RUN_KEY, 0, overlap_result, model),
    BC_COLUMN("form", BC_RUN_KEY, 11, overlap_result, form),
    BC_COLUMN("test_calls", BC_RUN_KEY, 0, overlap_result, test_calls),
    BC_COLUMN("elements", BC_KEY, 0, overlap_result, elements),
    BC_COLUMN_AS(BC_CELL_AMOUNT, "size_bytes", BC_KEY, 1, overlap_result, size_bytes),
    BC_COLUMN_AS(BC_CELL_TIME, "ref_us", BC_LESS, 3, overlap_result, reference.value),
    BC_COLUMN_AS(BC_CELL_US, "ref_sd_us", BC_INFO, 3, overlap_result, reference.sd),
    BC_COLUMN_AS(BC_CELL_TIME, "work_us", BC_INFO, 3, overlap_result, work.value),
    BC_COLUMN_AS(BC_CELL_TIME, "total_us", BC_INFO, 3, overlap_result, total.value),
    BC_COLUMN("overlap_pct", BC_MORE, 2, overlap_result, overlap_pct),
    BC_COLUMN("overlap_lo_pct", BC_INFO, 2, overlap_result, overlap_lo_pct),
    BC_COLUMN("overlap_hi_pct", BC_INFO, 2, overlap_result, overlap_hi_pct),
    BC_US_COLUMNS(BC_CELL_US, "blocking", BC_LESS, 3, overlap_result, gain.blocking),
    BC_US_COLUMNS(BC_CELL_US, "exposed", BC_LESS, 3, overlap_result, gain.exposed),
    BC_US_COLUMNS(BC_CELL_US, "gain", BC_INFO, 3, overlap_result, gain.gain),
    BC_COLUMN("gain_pct", BC_INFO, 2, overlap_result, gain.gain_pct.value),
    BC_COLUMN("gain_lo_pct", BC_INFO, 2, overlap_result, gain.gain_pct.interval.lo),
    BC_COLUMN("gain_hi_pct", BC_INFO, 2, overlap_result, gain.gain_pct.interval.hi),
    BC_COLUMN_ABOUT(
        "pays, even or loses against the blocking call; by how much: --columns=main,gain_pct",
        "verdict", BC_INFO, 9, overlap_result, verdict),
    BC_COLUMN("best_test_calls", BC_INFO, 0, overlap_result, best_test_calls),
    BC_TIME_RANGE_COLUMNS("ref", 3, overlap_result, reference),
    BC_TIME_RANGE_COLUMNS("work", 3, overlap_result, work),
    BC_TIME_RANGE_COLUMNS("total", 3, overlap_result, total),
    BC_OUTCOME_COLUMNS(overlap_result, outcome),
};
/* Key with --buffers=new. */
static const struct bc_column buffers_column =
    BC_COLUMN("buffers", BC_RUN_KEY, 0, overlap_result, buffers);
enum { COUNT = sizeof columns / sizeof *columns, OWN_KEYS_AT = 4 };

/* Returns the role in the time-driven model, in which the size is a result, and times of different
   sizes can't be compared. */
static enum bc_role time_driven_role(const struct bc_column *column)
{
    if (strcmp(column->name, "elements") == 0)
        return BC_MORE;
    return strcmp(column->name, "size_bytes") == 0 || column->role == BC_LESS ? BC_INFO
                                                                              : column->role;
}

static const char *varying_keys(const struct overlap_parameters *p)
{
    static char names[64];
    (void)snprintf(names, sizeof names, "%s%s%s", p->form == OP_FORMS ? "form," : "",
                   p->test_calls_count > 1 ? "test_calls," : "",
                   p->test_calls[0] == OVERLAP_AUTO ? "best_test_calls," : "");
    return names;
}

/* Main columns with buffers on a device. */
#define MEMORY_COLUMNS                                                                             \
    "size_bytes,blocking_us,staged_us,direct_gain_pct,direct_gain_lo_pct,direct_gain_hi_pct,"      \
    "direct_verdict,status"

void overlap_open_result(struct bc_run *run, const struct overlap_state *overlap,
                         const struct bc_column *own_keys, size_t own_count, const char *main)
{
    const struct overlap_parameters *const parameters = &overlap->parameters;
    static struct bc_column all[COUNT + OVERLAP_OWN_KEYS_MAX];
    static struct bc_table table;
    const bool data_driven = overlap_is_data_driven(parameters);
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; i == OWN_KEYS_AT && k < own_count; k++)
            all[count++] = own_keys[k];
        all[count] = columns[i];
        if (!data_driven)
            all[count].role = time_driven_role(&columns[i]);
        count++;
    }
    table = (struct bc_table){all, count, main, "ref_us,work_us,total_us"};
    const struct bc_table *with = &table;
    if (overlap->space.device != NULL)
        with = bc_memory_table(with, offsetof(struct overlap_result, staged), MEMORY_COLUMNS);
    if (parameters->buffers == BC_BUFFERS_NEW)
        with = bc_table_with_key(with, buffers_column);
    bc_open_result(run, with, varying_keys(parameters));
}

/* ---- notes at the head ----------------------------------------------------------------------- */

void overlap_open(struct overlap_state *overlap, struct bc_run *run)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const char *const persistent = p->kind->persistent_function;
    overlap->run = run;
    run->row_shares = p->test_calls[0] == OVERLAP_AUTO ? 2 : 1;
    overlap->first_rate = overlap->rate = overlap_calibrate(&overlap->worker);
    struct bc_device *const device =
        overlap->space.device != NULL ? overlap->space.device : overlap->worker.device;
    if (device != NULL)
        bc_memory_describe(run, device);
    if (p->kind->describe != NULL)
        p->kind->describe(run);
    if (overlap->worker.device != NULL)
        bc_output_meta(run->output, OVERLAP_NOTE_KERNEL, overlap->rate.call_ns * 1e-3,
                       overlap->rate.ns_per_unit);
    else
        bc_output_meta(run->output, OVERLAP_NOTE_WORK, overlap->rate.ns_per_unit);
    if (overlap->obstacle != NULL)
        bc_output_remark(run->output, OVERLAP_NOTE_MAX_SIZE, (long long)p->max_elements,
                         overlap->obstacle);
    overlap_note_size(overlap);
    if (overlap->lacks_persistent && persistent == NULL)
        bc_output_remark(run->output, OVERLAP_NOTE_NO_SUCH_FORM, p->name);
    else if (overlap->lacks_persistent)
        bc_output_remark(run->output, OVERLAP_NOTE_FORM_MISSING, persistent);
    if (overlap->cuts_too_fine)
        overlap_note_fine_cuts(overlap);
}

/* ---- the MPI library's progress -------------------------------------------------------------- */

/* Minimum shares of an operation that work without calls hides if the library has asynchronous
   progress, or some; and minimum points that calls add if the library makes progress in calls. */
#define BY_ITSELF_PCT 50.0
#define SOME_PCT 20.0
#define IN_CALLS_POINTS 20.0

/* Max width of an overlap's interval that shows progress. */
#define NOT_CLEAR_POINTS 50.0

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
    progress->searched = true;
    if (row->test_calls > 0 && !isnan(row->exposed_without_calls_ns))
        progress->hidden_pct = hidden_pct(reference_ns, row->exposed_without_calls_ns);
}

static const char *judgement(const struct overlap_progress *progress, bool partner_is_in_mpi)
{
    const bool in_calls = progress->hidden_with_calls_pct >= progress->hidden_pct + IN_CALLS_POINTS;
    if (progress->hidden_pct >= BY_ITSELF_PCT)
        return partner_is_in_mpi ? "progress by the library, or by the partner in MPI"
                                 : "asynchronous progress";
    if (progress->hidden_pct >= SOME_PCT)
        return in_calls ? "some asynchronous progress, more in calls"
                        : "some asynchronous progress";
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
        (void)snprintf(with_calls, sizeof with_calls, ", no more with calls of MPI_Test");
    else if (is_open && overlap->parts_option == NULL)
        (void)snprintf(with_calls, sizeof with_calls, ": try --test-calls=0,4,16");
    bc_output_remark(output, OVERLAP_NOTE_PROGRESS,
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

/* Dumps the row's samples, with the printed amount of work or else the largest. */
static void dump(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    const int fitting = overlap_fitting_amount(overlap, row);
    const int amount = fitting != OVERLAP_NO_AMOUNT ? fitting : 0;
    bc_samples_dump(run, "reference_phase", &row->reference_phase, OVERLAP_REFERENCE);
    bc_samples_dump(run, "reference", &row->rounds, OVERLAP_REFERENCE);
    bc_samples_dump(run, "total", &row->rounds, OVERLAP_TOTAL + amount);
    bc_samples_dump(run, "work", &row->rounds, OVERLAP_WORK + amount);
    bc_samples_dump(run, "beside", &row->rounds, OVERLAP_BESIDE);
    if (row->has_blocking)
        bc_samples_dump(run, "blocking", &row->rounds, OVERLAP_BLOCKING);
    bc_samples_dump(run, "exposed", &row->rounds, OVERLAP_EXPOSED);
}

/* Share of the cutoff time below which the size search was disturbed. */
#define CUTOFF_SHARE 0.5

/* On rank 0. */
static void conclude(struct overlap_state *overlap, const struct overlap_row *row,
                     struct overlap_result *result)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const struct bc_run *const run = overlap->run;
    dump(overlap, row);
    set_keys(p, row, result);
    overlap_summarize(overlap, row, result);
    result->outcome = bc_samples_outcome(run, &row->rounds, overlap_row_is_precise(overlap, row));
    if (row->max_size)
        result->outcome.status = "max-size";
    if (!overlap_is_data_driven(p) && !row->max_size &&
        result->reference.value < CUTOFF_SHARE * p->cutoff_ms * 1e6)
        bc_output_remark(run->output, OVERLAP_WARNING_SEARCH_DISTURBED,
                         result->reference.value * 1e-3);
    /* Rows with little work, with the processor in MPI, or on shared processors show no
       progress. */
    if (overlap->worker.device == NULL && row->choice.form == OP_NONBLOCKING && p->plenty >= 1.0 &&
        !run->job.oversubscribed && !isnan(result->gain.exposed.interval.lo))
        overlap_progress_add(&overlap->progress, row, result);
}

void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result)
{
    if (overlap->run->job.rank == 0)
        conclude(overlap, row, result);
    const bool check = overlap->run->settings.check;
    const int64_t wrong = check ? bc_sum_wrong(row->wrong, &result->outcome) : 0;
    if (wrong > 0)
        bc_output_remark(overlap->run->output, BC_WARNING_WRONG_DATA, (long long)wrong);
    bc_samples_free(&row->reference_phase);
    bc_samples_free(&row->rounds);
    bc_samples_free(&row->answers);
    bc_samples_free(&row->blocks);
    bc_samples_free(&row->gains);
    bc_samples_free(&row->gain_blocks);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Max change of the work's rate without a warning. */
#define DRIFT_WARNING_PCT 5.0

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
        bc_output_remark(overlap->run->output, OVERLAP_WARNING_DRIFT, max_pct,
                         worker.device != NULL ? "GPU" : "processor");
}
