#include "overlap/engine/sizes.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/run/program.h"
#include "overlap/engine/visit.h"

#include <math.h>

/* The time-driven model looks for its size no longer than this. */
#define GROWTH_S 2.0

/* Sizes of a run with defaults need no larger buffers on a rank, so that on many ranks an operation
   with a block for each other one takes no more than about a tenth of a second of a node's network.
 */
#define DEFAULT_BUFFER_BYTES (64.0 * 1048576.0)

/* ---- what fits ------------------------------------------------------------------------------- */

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
    if (overlap_passing_of(p->kind, &shape) == OVERLAP_BEYOND)
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

bool overlap_fit_sizes(struct overlap_state *overlap, const struct bc_run *run,
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

/* ---- parts of the work ----------------------------------------------------------------------- */

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
    const bool data_driven = overlap_is_data_driven(p), calls = overlap->parts_option == NULL;
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
    const bool chosen = !overlap_is_data_driven(p) || p->kind->no_elements ||
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

void overlap_note_fine_cuts(const struct overlap_state *overlap)
{
    bc_output_remark(overlap->run->output, "note",
                     "in rows of the smallest sizes the work can't be cut into as many parts as %s "
                     "asks for: some %s",
                     overlap->parts_option == NULL ? "--test-calls" : overlap->parts_option,
                     overlap->parts_option == NULL ? "calls follow one another without work"
                                                   : "parts are without work");
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
                overlap_note_fine_cuts(overlap);
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
