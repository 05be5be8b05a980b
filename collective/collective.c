/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective time: the time of a blocking collective, from the first rank's start to the last
 * rank's end, on a clock that all ranks share.
 *
 * Timed region: one call on each rank, between two readings of the clock (kernel.c). All ranks
 * start it at an agreed moment (common/sync_clock/start_window.h), or with --start=barrier after a
 * barrier, once all have left the previous call. A sample is the time from the first start to the
 * last end, or with --start=barrier the slowest rank's own time. The mean and the spread of the
 * ranks' own times are also recorded. With buffers on a device each round also times the staged
 * counterpart: copy to pinned memory, call, copy back. With --guidelines each round also times an
 * alternative to the operation (guidelines.h).
 *
 * When: a row is an operation and a size. The rows of a group (common/run/visits.c) are measured
 * alternately, each in several visits with new buffers.
 *
 * How often: six visits per row, up to twelve if the row isn't precise and time is left (15 s per
 * run). Rounds in which a rank started late are dropped, at most four for each that counts. A visit
 * ends when its median is known to 2 % (--precision), or when its time is up.
 *
 * Written: one line per row, after its group's last visit (columns.c): the mean of the visits'
 * medians.
 *
 * Sources: Worsch, Reussner and Augustin, "On Benchmarking Collective MPI Operations", EuroPVM/MPI
 * 2002 (windows, no pipelining); Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking is Still
 * Not as Easy as You Think", IEEE TPDS 27 (2016).
 */
#include "collective/collective.h"
#include "collective/warnings.h"
#include "common/mpi/harness.h"
#include "common/operations/buffers.h"

#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* Adds a row, or with --guidelines one for each alternative that fits into memory. */
static void add_rows(const struct collective *collective, const struct collective_row *row)
{
    struct bc_run *const run = collective->run;
    const struct op_shape shape = {
        .ranks = run->job.ranks, .type = row->type, .elements = row->elements};
    const struct collective_guideline *guideline;
    if (!collective->parameters.guidelines)
        *(struct collective_row *)bc_add_row(run) = *row;
    for (int i = 0; collective->parameters.guidelines &&
                    (guideline = collective_guideline_at(row->kind, &shape, i)) != NULL;
         i++) {
        const int64_t bytes = 2 * row->elements * op_type_bytes(row->type);
        if (guideline->alternative_kind == COLLECTIVE_DOUBLE &&
            collective_why_too_large(row->kind, row->type, bytes, &collective->parameters, run) !=
                NULL)
            continue;
        struct collective_row *const added = bc_add_row(run);
        *added = *row;
        added->guideline = guideline;
    }
}

/* Adds rows for each size of an operation and a type, or for one if the operation has no data. */
static void list_sizes(const struct collective *collective, const struct op_kind *kind,
                       enum op_type type)
{
    const struct bc_size_list *const sizes = &collective->parameters.sizes;
    struct bc_run *const run = collective->run;
    const size_t count = kind->no_elements ? 1 : sizes->count;
    for (size_t i = 0; i < count; i++) {
        const int64_t bytes = kind->no_elements ? 0 : sizes->values[i];
        if (!bc_size_list_is_first(sizes, i))
            continue;
        const char *const why_too_large =
            collective_why_too_large(kind, type, bytes, &collective->parameters, run);
        if (why_too_large != NULL)
            bc_output_remark(run->output, COLLECTIVE_NOTE_TOO_LARGE, kind->name, (long long)bytes,
                             why_too_large);
        else
            add_rows(collective, &(struct collective_row){.kind = kind,
                                                          .type = type,
                                                          .elements = bytes / op_type_bytes(type)});
    }
}

/* Adds all rows. An operation without data has one row for all types. */
static void list_rows(const struct collective *collective)
{
    const struct collective_parameters *const p = &collective->parameters;
    for (int k = 0; k < COLLECTIVE_KINDS; k++) {
        const struct op_kind *const kind = collective_kind(k);
        const char *const why_missing = collective_why_missing(kind, p);
        bool listed = false;
        if (!p->operations.chosen[k])
            continue;
        if (why_missing != NULL)
            bc_output_remark(collective->run->output, COLLECTIVE_NOTE_LEFT_OUT, kind->name,
                             why_missing);
        for (int type = 0; type < OP_TYPES && why_missing == NULL; type++) {
            if (!p->types.chosen[type] || (listed && kind->no_elements))
                continue;
            list_sizes(collective, kind, (enum op_type)type);
            listed = true;
        }
    }
}

/* ---- one row --------------------------------------------------------------------------------- */

static bool rotates(const struct collective *collective, const struct collective_row *row)
{
    return collective->parameters.root == COLLECTIVE_ROTATE && collective_is_rooted(row->kind);
}

static struct op_choice choice_of(const struct collective *collective,
                                  const struct collective_row *row, const struct op_space *space)
{
    const struct collective_parameters *const p = &collective->parameters;
    const bool root_is_fixed = collective_is_rooted(row->kind) && !rotates(collective, row);
    return (struct op_choice){
        .form = OP_BLOCKING_CALL,
        .space = space,
        .root = root_is_fixed ? (int)p->root : 0,
        .elements = row->elements,
        .type = row->type,
        .reduction = (enum op_reduction)p->reduction,
        .in_place = p->in_place,
        .any_root = rotates(collective, row),
    };
}

static void prepare(const struct collective *collective, const struct collective_row *row,
                    struct op_instance *operation)
{
    const struct bc_run *const run = collective->run;
    if (rotates(collective, row))
        op_set_root(operation, (int)(row->operations % run->job.ranks));
    if (run->settings.check)
        op_prepare_check(operation);
    else
        op_refill(operation);
}

static void verify(const struct collective *collective, struct collective_row *row,
                   struct op_instance *operation)
{
    if (collective->run->settings.check && !op_verify(operation))
        row->wrong++;
}

/* Stores the mean and the spread of the ranks' own times on rank 0. Both include the cost of a
   clock reading, which rounds subtract. */
static void store_own_times(const struct bc_run *run, struct bc_round *round, double own_ns)
{
    double ends[2] = {own_ns, -own_ns}, sum_ns = 0.0;
    bc_harness_reduce(&own_ns, &sum_ns, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    bc_harness_reduce(run->job.rank == 0 ? MPI_IN_PLACE : ends, ends, 2, MPI_DOUBLE, MPI_MAX, 0,
                      MPI_COMM_WORLD);
    if (run->job.rank != 0)
        return;
    bc_round_value(round, COLLECTIVE_OWN, sum_ns / run->job.ranks + run->own_clock.read_ns);
    bc_round_value(round, COLLECTIVE_SKEW, ends[0] + ends[1] + run->own_clock.read_ns);
}

static void take_staged(const struct collective *collective, struct collective_row *row,
                        struct bc_round *round, struct op_instance *operation,
                        struct op_instance *staged)
{
    prepare(collective, row, operation);
    prepare(collective, row, staged);
    bc_round_release(round, operation->comm);
    bc_round_start(round);
    bc_round_time(round, COLLECTIVE_COUNTERPART, collective_time_staged(operation, staged));
    /* Data for host memory stays in the staged buffer. */
    verify(collective, row, bc_memory_needs_copy(operation->space.receive) ? operation : staged);
}

static void take_alternative(const struct collective *collective, struct collective_row *row,
                             struct bc_round *round, struct collective_alternative *alternative)
{
    for (int i = 0; i < alternative->count; i++) {
        if (collective->parameters.buffers == BC_BUFFERS_NEW)
            op_renew(&alternative->parts[i]);
        prepare(collective, row, &alternative->parts[i]);
    }
    bc_round_release(round, alternative->parts[0].comm);
    bc_round_start(round);
    bc_round_time(round, COLLECTIVE_COUNTERPART, collective_time_alternative(alternative));
    for (int i = 0; i < alternative->count; i++)
        verify(collective, row, &alternative->parts[i]);
}

static void measure(const struct collective *collective, struct bc_visit *visit)
{
    const struct bc_run *const run = collective->run;
    const struct collective_parameters *const p = &collective->parameters;
    struct collective_row *const row = visit->row;
    const bool has_staged = collective->device != NULL;
    struct bc_quantities quantities = collective_quantities;
    const struct op_space space = {collective->device, p->memory.of[0], p->memory.of[1]},
                          pinned = {collective->device, BC_MEMORY_PINNED, BC_MEMORY_PINNED};
    const struct op_choice choice = choice_of(collective, row, &space),
                           staged_choice = choice_of(collective, row, &pinned);
    struct op_instance operation, staged;
    struct collective_alternative alternative;
    op_create(&operation, row->kind, &run->job, &choice);
    if (has_staged)
        op_create(&staged, row->kind, &run->job, &staged_choice);
    else if (row->guideline != NULL)
        collective_alternative_create(&alternative, row->guideline, row->kind, &run->job, &choice);
    else
        quantities.count = COLLECTIVE_COUNTERPART;
    row->size_bytes = op_size_bytes(operation.kind, &operation.shape);
    struct bc_rounds *const rounds = bc_rounds_of(run, &quantities, visit->seconds, &row->store);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        if (p->buffers == BC_BUFFERS_NEW)
            op_renew(&operation);
        prepare(collective, row, &operation);
        bc_round_release(round, operation.comm);
        bc_round_start(round);
        const double ns = bc_round_ns(round, COLLECTIVE_TIME, collective_time(&operation));
        bc_round_value(round, COLLECTIVE_TIME, ns);
        verify(collective, row, &operation);
        store_own_times(run, round, ns - run->own_clock.read_ns);
        if (has_staged)
            take_staged(collective, row, round, &operation, &staged);
        if (row->guideline != NULL)
            take_alternative(collective, row, round, &alternative);
        row->operations++;
        if (run->settings.check && row->kind->check != NULL && !row->kind->check(&operation))
            row->wrong++;
    }
    if (has_staged)
        op_destroy(&staged);
    if (row->guideline != NULL)
        collective_alternative_destroy(&alternative);
    op_destroy(&operation);
    visit->is_precise = bc_store_is_precise(run, &quantities, &row->store);
}

static void write_row(const struct collective *collective, struct collective_row *row)
{
    struct collective_result result;
    collective_conclude(collective, row, &result);
    bc_write_row(collective->run, &result);
}

const struct bc_program collective_program = {
    .name = "collective",
    .summary = "Measures the time of blocking collectives, from the first process's start to the\n"
               "last one's end. Needs at least 2 processes.",
    .placement = BC_PLACED,
    .has_buffers = true,
    .options = {collective_options, COLLECTIVE_OPTIONS},
    .defaults = &collective_default_parameters,
    .defaults_bytes = sizeof collective_default_parameters,
    .state_bytes = sizeof(struct collective),
    .row_bytes = sizeof(struct collective_row),
    .budget_s = BC_BUDGET_S,
    .has_start = true,
    .start = BC_START_WINDOW,
    .complete = collective_complete,
    .fit = collective_fit,
};

static void open_memory(struct collective *collective, struct bc_run *run)
{
    const struct collective_parameters *const p = &collective->parameters;
    if (bc_memory_is_asked(&p->memory))
        collective->device =
            bc_memory_open(run, &p->memory, collective_device_bytes(p, run), "smaller --sizes");
}

static void open_result(const struct collective *collective, struct bc_run *run)
{
    int types = 0;
    for (int i = 0; i < BC_NAMES_MAX; i++)
        types += collective->parameters.types.chosen[i];
    bc_open_result(run, collective_table(collective), types > 1 ? "type," : "");
    if (collective->device != NULL)
        bc_memory_describe(run, collective->device);
}

int main(int argc, char **argv)
{
    struct collective collective;
    struct bc_run *const run = bc_start(&collective_program, &collective, argc, argv);
    collective.run = run;
    open_memory(&collective, run);
    open_result(&collective, run);
    list_rows(&collective);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&collective, visit);
        else /* BC_WRITE */
            write_row(&collective, visit->row);
    return bc_finish(run);
}
