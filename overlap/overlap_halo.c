/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of a halo exchange by the methods of halo_swap that have a start and a finish: messages
 * of datatypes or of packed faces, persistent messages, and a neighbourhood collective. The
 * blocking counterpart is the same exchange by blocking calls.
 *
 * Timed region, when, and how often: see iallreduce.c, with a row for each box and method. Written:
 * the same columns, with the keys method and local.
 */
#include "overlap/engine/program.h"
#include "overlap/warnings.h"

#include "common/memory/allocate.h"
#include "common/halo_swap/box_list.h"
#include "common/halo_swap/methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the operation --------------------------------------------------------------------------- */

struct swap_variant {
    const struct halo_method *method;
    struct halo_box box;
};

struct swap {
    struct halo_exchange exchange;
    int64_t prepared; /* exchanges with prepared data */
};

static void start(struct op_instance *operation)
{
    const struct swap *const swap = operation->own;
    swap->exchange.method->start(&swap->exchange);
}

static void finish(struct op_instance *operation)
{
    const struct swap *const swap = operation->own;
    swap->exchange.method->finish(&swap->exchange);
}

static void block(struct op_instance *operation)
{
    const struct swap *const swap = operation->own;
    swap->exchange.method->blocking(&swap->exchange);
}

static void destroy(struct op_instance *operation)
{
    struct swap *const swap = operation->own;
    halo_exchange_destroy(&swap->exchange);
    free(swap);
}

static void prepare(struct op_instance *operation)
{
    struct swap *const swap = operation->own;
    halo_prepare(&swap->exchange, swap->prepared++);
}

static bool is_right(struct op_instance *operation)
{
    const struct swap *const swap = operation->own;
    return halo_is_right(&swap->exchange, swap->prepared - 1);
}

static void create(struct op_instance *operation)
{
    const struct swap_variant *const variant = operation->variant;
    struct swap *const swap = bc_allocate(1, sizeof *swap, "no memory for a swap");
    const struct halo_grid grid = halo_grid_of(operation->dims, operation->shape.rank);
    halo_exchange_create(&swap->exchange, variant->method, &variant->box, &grid, operation->comm,
                         operation->job->node_comm, NULL);
    operation->own = swap;
    operation->requests = swap->exchange.requests;
    operation->request_count = swap->exchange.request_count;
    operation->borrows_requests = true;
    operation->prepare = prepare;
    operation->is_right = is_right;
}

static const struct op_kind swaps = {
    .name = "halo",
    .no_elements = true,
    .on_grid = true,
    .functions = {.start = start, .blocking = block},
    .finish = finish,
    .create = create,
    .destroy = destroy,
};

/* ---- the program ----------------------------------------------------------------------------- */

static const char *method_name(int index) { return halo_methods_in_parts[index]->name; }

/* A method and a form make a row with each box. */
struct overlap_halo {
    struct overlap_state overlap; /* first member: the engine uses it */
    struct halo_box_list local;
    struct bc_names methods;
    struct swap_variant variants[HALO_METHODS_IN_PARTS * HALO_BOXES_MAX]; /* of the rows */
};

struct overlap_halo_result {
    struct overlap_result overlap; /* first */
    const char *method;
    char local[BC_CELL_LENGTH];
};

static const struct bc_option own_options[] = {
    {"local", BC_TEXT, offsetof(struct overlap_halo, local.text), .argument = "LIST",
     .help = "boxes without halo, in doubles, A for a cube or AxBxC"},
    {"methods", BC_NAMES, offsetof(struct overlap_halo, methods), .argument = "NAMES",
     .name_at = method_name, .name_count = HALO_METHODS_IN_PARTS, .help = "methods"},
};

static const struct bc_column own_keys[] = {
    BC_COLUMN("method", BC_KEY, 18, overlap_halo_result, method),
    BC_COLUMN("local", BC_KEY, 11, overlap_halo_result, local),
};

static bool complete(void *memory, struct bc_error *error)
{
    struct overlap_halo *const halo = memory;
    return overlap_parameters_complete(memory, error) && halo_read_boxes(&halo->local, error);
}

/* True if --form asks for the method. */
static bool has_form(const struct overlap_halo *halo, const struct halo_method *method)
{
    const int form = halo->overlap.parameters.form;
    return form == OP_FORMS || (form == OP_PERSISTENT) == method->persistent;
}

static bool has_rows(const struct overlap_halo *halo, int i)
{
    const struct halo_method *const method = halo_methods_in_parts[i];
    return halo->methods.chosen[i] && !method->missing && has_form(halo, method);
}

/* Refuses methods that the MPI library lacks or that don't have the form. */
static bool fit_methods(const struct overlap_halo *halo, struct bc_error *error)
{
    const char *would_do = "all"; /* a method of the form */
    const int form = halo->overlap.parameters.form;
    bool is_there = false; /* one of those chosen */
    for (int i = HALO_METHODS_IN_PARTS - 1; i >= 0; i--) {
        const struct halo_method *const method = halo_methods_in_parts[i];
        if (has_rows(halo, i))
            return true;
        if (!method->missing && has_form(halo, method))
            would_do = method->name;
        is_there = is_there || (halo->methods.chosen[i] && !method->missing);
    }
    if (!is_there)
        return bc_error_set(error,
                            "--methods: this MPI library lacks the functions of '%.80s': use "
                            "--methods='%s'",
                            halo->methods.text, would_do);
    return bc_error_set(error,
                        "--form: %s: none of the methods '%.80s' has this form: use --form=%s or "
                        "--methods='%s'",
                        op_form_names[form], halo->methods.text,
                        op_form_names[form == OP_NONBLOCKING], would_do);
}

static bool fit(void *memory, struct bc_run *run, struct bc_error *error)
{
    struct overlap_halo *const halo = memory;
    return fit_methods(halo, error) && halo_fit_boxes(&halo->local, run, true, false, error) &&
           overlap_fit(memory, run, error);
}

/* Notes the reason for a chosen method without rows. If the user named none, methods of a different
   form need no note. */
static void note_left_out(const struct overlap_halo *halo, const struct bc_run *run,
                          const struct halo_method *method)
{
    if (has_form(halo, method))
        bc_output_remark(run->output, OVERLAP_NOTE_METHOD_MISSING, method->name);
    else if (bc_option_given(&run->options, "methods"))
        bc_output_remark(run->output, OVERLAP_NOTE_OTHER_FORM, method->name,
                         op_form_names[halo->overlap.parameters.form]);
}

static void open_halo(struct overlap_halo *halo, struct bc_run *run)
{
    MPI_Comm comm;
    int dims[HALO_DIRECTIONS];
    op_create_grid(run->job.ranks, dims, &comm);
    const struct halo_grid grid = halo_grid_of(dims, run->job.rank);
    overlap_open(&halo->overlap, run);
    if (halo->local.left_out != NULL)
        halo_note_left_out(&halo->local, run->output);
    for (int i = 0; i < HALO_METHODS_IN_PARTS; i++) {
        const struct halo_method *const method = halo_methods_in_parts[i];
        if (halo->methods.chosen[i] && !has_rows(halo, i))
            note_left_out(halo, run, method);
        if (!has_rows(halo, i) || !method->may_misplace)
            continue;
        halo_note_misplaced(method, true, "", &grid, comm, run->output);
        if (!halo->overlap.parameters.no_blocking)
            halo_note_misplaced(method, false, "blocking ", &grid, comm, run->output);
    }
    BC_MPI(MPI_Comm_free(&comm));
}

/* Appends the methods that have rows, with this box; returns their number. */
static size_t add_variants(const struct overlap_halo *halo, const struct halo_box *box,
                           struct swap_variant *variants)
{
    size_t count = 0;
    for (int i = 0; i < HALO_METHODS_IN_PARTS; i++)
        if (has_rows(halo, i))
            variants[count++] = (struct swap_variant){halo_methods_in_parts[i], *box};
    return count;
}

static void list_rows(struct overlap_halo *halo)
{
    size_t count = 0;
    for (int i = 0; i < halo->local.count; i++)
        count += add_variants(halo, &halo->local.boxes[i], &halo->variants[count]);
    overlap_list_rows(&halo->overlap, count, halo->variants, sizeof *halo->variants);
}

static void write_row(struct overlap_halo *halo, struct overlap_row *row)
{
    const struct swap_variant *const variant = row->choice.variant;
    struct overlap_halo_result result = {0};
    const int64_t *const extent = variant->box.extent, values = halo_ndata(&variant->box);
    row->size_bytes = (double)sizeof(double) * (double)values;
    overlap_conclude(&halo->overlap, row, &result.overlap);
    result.overlap.elements = values;
    result.overlap.form =
        op_form_names[variant->method->persistent ? OP_PERSISTENT : OP_NONBLOCKING];
    result.method = variant->method->name;
    (void)snprintf(result.local, sizeof result.local, "%lldx%lldx%lld", (long long)extent[0],
                   (long long)extent[1], (long long)extent[2]);
    bc_write_row(halo->overlap.run, &result);
}

/* Probes the cuts in the smallest box; too fine cuts are an error if boxes were given. */
static bool probe(struct overlap_halo *halo, struct bc_run *run, struct bc_error *error)
{
    const struct halo_box *smallest = &halo->local.boxes[0];
    for (int i = 1; i < halo->local.count; i++)
        if (halo_ndata(&halo->local.boxes[i]) < halo_ndata(smallest))
            smallest = &halo->local.boxes[i];
    const size_t count = add_variants(halo, smallest, halo->variants);
    return overlap_check_cuts(&halo->overlap, run, count, halo->variants, sizeof *halo->variants,
                              "local", error);
}

const struct bc_program overlap_halo_program = {
    .name = "overlap_halo",
    .summary = "Measures how much work fits under a 3D halo exchange in a periodic grid of\n"
               "processes, and what that gains against the same exchange by blocking calls.\n"
               "Needs at least 2 processes.",
    .placement = BC_PLACED,
    .has_buffers = true,
    .own_options = {own_options, sizeof own_options / sizeof *own_options},
    .defaults =
        &(const struct overlap_halo){
            .overlap.parameters = {OVERLAP_DEFAULTS, .name = "halo", .kind = &swaps,
                                   .variants_have_forms = true, .form = OP_FORMS},
            .local = {.text = "10,50,100", .where = "memory"},
            .methods = {.text = "all"}},
    .defaults_bytes = sizeof(struct overlap_halo),
    .state_bytes = sizeof(struct overlap_halo),
    .complete = complete,
    .fit = fit,
    OVERLAP_PROGRAM,
};

int main(int argc, char **argv)
{
    struct overlap_halo halo;
    struct bc_error error = {""};
    struct bc_run *const run = bc_start(&overlap_halo_program, &halo, argc, argv);
    overlap_open_memory(&halo.overlap, run);
    const bool good = probe(&halo, run, &error);
    bc_require(run, good, &error);
    overlap_open_result(run, &halo.overlap, own_keys, sizeof own_keys / sizeof *own_keys,
                        "method,local," OVERLAP_MAIN_VALUES);
    open_halo(&halo, run);
    list_rows(&halo);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            overlap_measure(&halo.overlap, visit);
        else
            write_row(&halo, visit->row);
    overlap_close(&halo.overlap);
    return bc_finish(run);
}
