#include "overlap/engine/state.h"

#include "common/mpi/harness.h"
#include "overlap/engine/row.h"
#include "overlap/engine/sizes.h"

#include <math.h>

/* ---- the beginning --------------------------------------------------------------------------- */

void overlap_open_memory(struct overlap_state *overlap, struct bc_run *run)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const enum bc_memory *const of = p->memory.of;
    struct bc_error error = {""};
    const bool is_in_host_memory = bc_memory_is_host(of);
    const bool good =
        is_in_host_memory || p->kind->send.extent != OP_NO_BUFFER ||
        bc_error_set(&error, "--memory=%.80s: %s has no buffers that can lie there: use host",
                     p->memory.words, p->name);
    bc_require(run, good, &error);
    if (!bc_memory_is_asked(&p->memory))
        return;
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

void overlap_open(struct overlap_state *overlap, struct bc_run *run)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const char *const persistent = p->kind->persistent_function;
    overlap->run = run;
    /* The number of calls of MPI_Test is looked for before anything else. */
    run->row_shares = p->test_calls[0] == OVERLAP_AUTO ? 2 : 1;
    overlap->first_rate = overlap->rate = overlap_calibrate(&overlap->worker);
    struct bc_device *const device =
        overlap->space.device != NULL ? overlap->space.device : overlap->worker.device;
    if (device != NULL)
        bc_memory_describe(run, device);
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

/* A library that hides this share of an operation under work without calls makes progress by
   itself, or some; one that hides this many points more with calls makes it in calls. */
#define BY_ITSELF_PCT 50.0
#define SOME_PCT 20.0
#define IN_CALLS_POINTS 20.0

/* A row whose overlap isn't known better than this says nothing of it, nor does one whose operation
   may take no time. */
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

/* ---- the end --------------------------------------------------------------------------------- */

/* A warning says so if the work's rate drifted by more than this. */
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
        bc_output_remark(overlap->run->output, "warning",
                         "the work's rate drifted by %.1f %% on a rank during the run: the "
                         "%s's clock rate or its load changed",
                         max_pct, worker.device != NULL ? "GPU" : "processor");
}
