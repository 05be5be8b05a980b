/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/sizes.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "overlap/engine/row.h"
#include "overlap/engine/rounds.h"
#include "overlap/warnings.h"

#include <math.h>

/* Max time of the search for a size. */
#define GROWTH_S 2.0

/* Max bytes of a rank's buffers by default, so that an operation among many ranks takes no more
   than about a tenth of a second of a node's network. */
#define DEFAULT_BUFFER_BYTES (64.0 * 1048576.0)

/* ---- what fits ------------------------------------------------------------------------------- */

static bool is_max_given(const struct bc_run *run)
{
    return bc_option_given(&run->options, "sizes") ||
           bc_option_given(&run->options, "max-num-elts");
}

/* Returns the limit that `elements` exceed; NULL: they fit. */
static const char *obstacle_to(const struct overlap_parameters *p, const struct bc_run *run,
                               int64_t elements)
{
    const struct op_shape shape = {
        .ranks = run->job.ranks, .root = (int)p->root, .elements = elements};
    const bool asked = elements <= p->min_elements || is_max_given(run);
    const double bytes = op_bytes(p->kind, &shape);
    /* A new buffer is allocated before the old buffer is freed. */
    const double buffers = p->buffers == BC_BUFFERS_NEW ? 2.0 : 1.0;
    if (buffers * bytes > bc_run_usable_bytes(run, BC_MEMORY_SHARE, false))
        return "memory";
    if (op_passing_of(p->kind, &shape) == OP_BEYOND)
        return "the counts of this MPI library";
    return !asked && bytes > DEFAULT_BUFFER_BYTES ? "the default limit of 64 MiB a rank" : NULL;
}

/* Returns the largest power of two that fits, or the min elements if only they fit. */
static int64_t largest_that_fits(const struct overlap_parameters *p, const struct bc_run *run)
{
    int64_t max = 1;
    while (max <= p->max_elements / 2 && obstacle_to(p, run, 2 * max) == NULL)
        max *= 2;
    return max < p->min_elements && obstacle_to(p, run, p->min_elements) == NULL ? p->min_elements
                                                                                 : max;
}

bool overlap_fit_sizes(struct overlap_state *overlap, const struct bc_run *run,
                       struct bc_error *error)
{
    struct overlap_parameters *const p = &overlap->parameters;
    if (p->kind->no_elements)
        return true;
    overlap->sizes_are_given = is_max_given(run) || bc_option_given(&run->options, "min-num-elts");
    if (p->min_elements > p->max_elements)
        return bc_error_set(error,
                            "--min-num-elts: %lld is more than --max-num-elts, %lld: lower the one "
                            "or raise the other",
                            (long long)p->min_elements, (long long)p->max_elements);
    const char *const obstacle = obstacle_to(p, run, p->max_elements);
    if (obstacle == NULL)
        return true;
    const int64_t max = largest_that_fits(p, run);
    if (!is_max_given(run) && max >= p->min_elements) {
        overlap->obstacle = obstacle_to(p, run, 2 * max);
        p->max_elements = max;
        return true;
    }
    const bool in_bytes = p->elements_count > 0;
    const long long unit = in_bytes ? (long long)sizeof(double) : 1;
    return bc_error_set(error, "%s: %lld %s on %d ranks do not fit into %s: use at most %lld",
                        in_bytes ? "--sizes" : "--max-num-elts", unit * p->max_elements,
                        in_bytes ? "bytes" : "elements", run->job.ranks, obstacle, unit * max);
}

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
    /* A device holds each buffer, its image, the image of the pinned buffer, and a new buffer. */
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

/* ---- parts of the work ----------------------------------------------------------------------- */

static bool is_wanted(const struct overlap_parameters *p, int form)
{
    if (p->variants_have_forms)
        return form == OP_NONBLOCKING;
    return p->form == form || p->form == OP_FORMS;
}

static const struct op_space *space_of(const struct overlap_state *overlap)
{
    return overlap->space.device != NULL ? &overlap->space : NULL;
}

static struct overlap_experiment experiment_of(const struct overlap_parameters *p,
                                               struct op_instance *operation)
{
    return (struct overlap_experiment){
        .operation = operation, .renews = p->buffers == BC_BUFFERS_NEW, .by_barrier = true};
}

/* Returns the min time of a few operations, the max over ranks that work. Collective. */
static double first_reference_ns(const struct overlap_parameters *p, const struct bc_run *run,
                                 const struct op_choice *choice)
{
    enum { OPERATIONS = 5 };
    struct op_instance operation;
    struct overlap_experiment x = experiment_of(p, &operation);
    double own_ns = INFINITY, max_ns;
    op_create(&operation, p->kind, &run->job, choice);
    for (int i = 0; i < OPERATIONS; i++)
        own_ns = fmin(own_ns, overlap_take(&x, NULL, OVERLAP_REFERENCE, OVERLAP_CALL_REFERENCE, 0));
    op_destroy(&operation);
    bc_harness_allreduce(&own_ns, &max_ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return max_ns;
}

/* Returns the max number of parts that options ask for. */
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

/* Returns the max number of parts of plenty of work under such an operation. */
static int64_t possible_parts(const struct overlap_parameters *p, double reference_ns)
{
    struct bc_work_rate rate = bc_work_calibrate();
    rate.call_ns = fmax(0.0, rate.call_ns); /* a negative cost would make units out of nothing */
    const uint64_t units = bc_work_units(&rate, p->plenty * reference_ns);
    return units > 0 ? (int64_t)units : 1;
}

/* Returns variant i of an array, or NULL if there is no array. */
static const void *variant_at(const void *variants, size_t i, size_t bytes)
{
    return variants != NULL ? (const char *)variants + i * bytes : NULL;
}

bool overlap_check_cuts(struct overlap_state *overlap, struct bc_run *run, size_t count,
                        const void *variants, size_t bytes, const char *option,
                        struct bc_error *error)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const bool data_driven = overlap_is_data_driven(p), calls = overlap->parts_option == NULL;
    const int64_t asked = max_parts(overlap);
    double reference_ns = data_driven ? INFINITY : p->cutoff_ms * 1e6;
    if (asked == 1)
        return true;
    for (size_t i = 0; data_driven && i < count; i++)
        for (int form = 0; form < OP_FORMS; form++) {
            const struct op_choice choice = {.form = (enum op_form)form,
                                             .root = (int)p->root,
                                             .elements = p->kind->no_elements ? 0 : p->min_elements,
                                             .variant = variant_at(variants, i, bytes),
                                             .space = space_of(overlap)};
            if (is_wanted(p, form))
                reference_ns = fmin(reference_ns, first_reference_ns(p, run, &choice));
        }
    const int64_t possible = possible_parts(p, reference_ns);
    overlap->cuts_too_fine = asked > possible;
    if (!overlap->cuts_too_fine || (option != NULL && !bc_option_given(&run->options, option)))
        return true;
    return bc_error_set(error,
                        "%s: the work under an operation of %.4g us can't be cut into %lld parts: "
                        "use at most %lld, or %s, or more --plenty",
                        calls ? "--test-calls" : overlap->parts_option, reference_ns * 1e-3,
                        (long long)asked, (long long)(calls ? possible - 1 : possible),
                        data_driven ? "larger sizes" : "a longer --cutoff-time");
}

void overlap_note_fine_cuts(const struct overlap_state *overlap)
{
    const bool calls = overlap->parts_option == NULL;
    bc_output_remark(overlap->run->output, OVERLAP_NOTE_FINE_CUTS,
                     calls ? "--test-calls" : overlap->parts_option,
                     calls ? "calls have no work between them" : "parts have no work");
}

/* Returns the next size of a doubling sweep, which ends on the largest; 0 after it. */
static int64_t next_elements(const struct overlap_parameters *p, int64_t elements)
{
    if (elements >= p->max_elements)
        return 0;
    return elements > p->max_elements / 2 ? p->max_elements : 2 * elements;
}

/* ---- the size of the time-driven model ------------------------------------------------------- */

/* Sizes of a job in which no size takes the cutoff time. */
static const int64_t usual_elements[] = {128, 8192, 131072};

/* Returns the operation's time by up to five rounds until end_s, the same on every rank.
   Collective. */
static double quick_reference_ns(const struct overlap_state *overlap, const struct bc_run *run,
                                 const struct op_choice *choice, double end_s)
{
    enum { ROUNDS = 5 };
    struct op_instance operation;
    struct overlap_experiment x = experiment_of(&overlap->parameters, &operation);
    struct bc_samples samples = {.count = 0};
    double reference_ns = 0.0;
    op_create(&operation, overlap->parameters.kind, &run->job, choice);
    const struct bc_plan plan = {
        .min_rounds = ROUNDS,
        .max_rounds = ROUNDS,
        .deadline_s = end_s,
        .grace_rounds = 1,
        .warmup_rounds = 1,
    };
    overlap_reference_rounds(run, &x, &plan, &samples);
    if (run->job.rank == 0)
        reference_ns = overlap_summary_of(run, &samples, OVERLAP_REFERENCE).value;
    bc_samples_free(&samples);
    bc_harness_bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    op_destroy(&operation);
    return reference_ns;
}

/* Grows the size until the operation takes the cutoff time, twice if there is time: one slow
   operation may be disturbed. Collective; the same on every rank. */
static void grow(struct overlap_state *overlap, const struct bc_run *run, const void *variant)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    struct overlap_growth *const growth = &overlap->growth;
    struct op_choice choice = {.root = (int)p->root,
                               .elements = p->min_elements,
                               .variant = variant,
                               .space = space_of(overlap)};
    const double end_s = bc_elapsed_s() + GROWTH_S;
    for (bool again = false; growth->count < OVERLAP_GROWTH_MAX;) {
        const double reference_ns = quick_reference_ns(overlap, run, &choice, end_s);
        const bool takes_it = reference_ns >= p->cutoff_ms * 1e6;
        int late = bc_elapsed_s() >= end_s;
        bc_harness_bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
        growth->elements[growth->count] = choice.elements;
        growth->reference_ns[growth->count++] = reference_ns;
        growth->is_late = late && !takes_it;
        growth->is_found = takes_it && (again || late);
        again = takes_it;
        if (growth->is_found || growth->is_late)
            return;
        if (takes_it)
            continue;
        const int64_t larger = next_elements(p, choice.elements);
        if (larger == 0)
            return;
        choice.elements = larger;
    }
}

/* Makes the run data-driven, of the usual sizes that memory allows, as multiples of the smallest
   size, which the program's parts divide. Local. */
static void use_usual_sizes(struct overlap_parameters *p)
{
    const int64_t max = p->max_elements, step = p->min_elements;
    p->data_driven = true;
    for (size_t i = 0; i < sizeof usual_elements / sizeof *usual_elements; i++) {
        const int64_t usual = (usual_elements[i] + step - 1) / step * step;
        const int64_t elements = usual < max ? usual : max;
        const int count = p->elements_count;
        if (count == 0 || elements > p->elements[count - 1])
            p->elements[p->elements_count++] = elements;
    }
    p->min_elements = p->elements[0];
}

void overlap_find_size(struct overlap_state *overlap, const struct bc_run *run, const void *variant)
{
    struct overlap_parameters *const p = &overlap->parameters;
    const struct overlap_growth *const growth = &overlap->growth;
    if (overlap_is_data_driven(p))
        return;
    grow(overlap, run, variant);
    int is_limited = overlap->sizes_are_given;
    bc_harness_bcast(&is_limited, 1, MPI_INT, 0, MPI_COMM_WORLD);
    overlap->lacks_size = !growth->is_found && !is_limited;
    if (growth->is_found)
        return;
    int smallest = growth->count - 1; /* of the rows */
    if (overlap->lacks_size)
        use_usual_sizes(p);
    while (overlap->lacks_size && smallest > 0 && growth->elements[smallest - 1] >= p->elements[0])
        smallest--;
    overlap->cuts_too_fine = max_parts(overlap) > 1 &&
                             max_parts(overlap) > possible_parts(p, growth->reference_ns[smallest]);
}

void overlap_note_size(const struct overlap_state *overlap)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    const struct overlap_growth *const growth = &overlap->growth;
    struct bc_output *const output = overlap->run->output;
    for (int i = 0; p->verbose && i < growth->count; i++)
        bc_output_remark(output, "verbose", "%lld elements: %.3f us, cutoff %.3f us",
                         (long long)growth->elements[i], growth->reference_ns[i] * 1e-3,
                         p->cutoff_ms * 1e3);
    if (overlap->lacks_size)
        bc_output_remark(output, OVERLAP_NOTE_NO_SIZE, growth->is_late ? " within 2 s" : "",
                         p->cutoff_ms);
    else if (growth->is_late)
        bc_output_remark(output, OVERLAP_NOTE_SEARCH_ENDED, GROWTH_S);
}

/* ---- the rows of the two models -------------------------------------------------------------- */

/* Returns size i of a data-driven run, after `elements`; 0 after the last. */
static int64_t elements_at(const struct overlap_parameters *p, int i, int64_t elements)
{
    if (p->elements_count > 0)
        return i < p->elements_count ? p->elements[i] : 0;
    return i == 0 ? p->min_elements : next_elements(p, elements);
}

/* Adds the rows of a size. */
static void add_rows(struct overlap_state *overlap, struct overlap_row row, size_t count,
                     const void *variants, size_t bytes)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    for (size_t variant = 0; variant < count; variant++)
        for (int form = 0; form < OP_FORMS; form++)
            for (int i = 0; i < p->test_calls_count && is_wanted(p, form); i++) {
                row.choice.form = (enum op_form)form;
                row.choice.variant = variant_at(variants, variant, bytes);
                row.asked_test_calls = p->test_calls[i];
                *(struct overlap_row *)bc_add_row(overlap->run) = row;
            }
}

void overlap_list_rows(struct overlap_state *overlap, size_t count, const void *variants,
                       size_t bytes)
{
    const struct overlap_parameters *const p = &overlap->parameters;
    struct overlap_row row = {
        .choice = {.root = (int)p->root, .variant = variants, .space = space_of(overlap)}};
    int64_t *const elements = &row.choice.elements;
    if (p->kind->no_elements) {
        add_rows(overlap, row, count, variants, bytes);
    } else if (p->data_driven) {
        for (int i = 0; (*elements = elements_at(p, i, *elements)) > 0; i++)
            add_rows(overlap, row, count, variants, bytes);
    } else {
        const struct overlap_growth *const growth = &overlap->growth;
        *elements = growth->elements[growth->count - 1];
        row.max_size = !growth->is_found;
        add_rows(overlap, row, count, variants, bytes);
    }
}
