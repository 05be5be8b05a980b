#include "collective/collective.h"

#include "common/mpi/harness.h"
#include "common/measure/plan.h"
#include "common/operations/buffers.h"

#include <math.h>
#include <stdio.h>

/* ---- samples --------------------------------------------------------------------------------- */

struct round {
    const struct bc_run *run;
    struct op_instance *operation;
    struct op_instance *staged; /* in pinned memory; NULL: there is no counterpart */
    struct collective_row *row;
    bool rotates; /* the root is another rank each time */
    bool renews;  /* the operation has buffers that were allocated before it */
};

/* The mean of the ranks' own times and their difference, on rank 0 alone: with the cost of a clock
   reading, which the sampler takes off. Two small reductions, after the timed region. */
static void join_own_times(const struct bc_run *run, double own_ns, double *values)
{
    double ends[2] = {own_ns, -own_ns}, sum_ns = 0.0;
    bc_harness_reduce(&own_ns, &sum_ns, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    bc_harness_reduce(run->job.rank == 0 ? MPI_IN_PLACE : ends, ends, 2, MPI_DOUBLE, MPI_MAX, 0,
                      MPI_COMM_WORLD);
    values[COLLECTIVE_OWN] = values[COLLECTIVE_SKEW] = -INFINITY;
    if (run->job.rank != 0)
        return;
    values[COLLECTIVE_OWN] = sum_ns / run->job.ranks + run->own_clock.read_ns;
    values[COLLECTIVE_SKEW] = ends[0] + ends[1] + run->own_clock.read_ns;
}

static void prepare(const struct round *round, struct op_instance *operation)
{
    if (round->rotates)
        op_set_root(operation, (int)(round->row->operations % round->run->job.ranks));
    if (round->run->settings.check)
        op_poison(operation);
    else
        op_refill(operation);
}

static void verify(const struct round *round, struct op_instance *operation)
{
    if (round->run->settings.check && !op_verify(operation))
        round->row->wrong++;
}

static double take_staged(const struct round *round)
{
    struct op_instance *const operation = round->operation, *const staged = round->staged;
    prepare(round, operation);
    prepare(round, staged);
    const double ns = collective_time_staged(operation, staged, round->run->window);
    /* What arrives in host memory stays where the staged operation has put it. */
    verify(round, bc_memory_needs_copy(operation->space.receive) ? operation : staged);
    return ns;
}

/* One operation, prepared and verified outside the timed region, and its staged counterpart. A
   check of the kind's own runs beside it: its data tells nothing. */
static void take(void *context, double *values)
{
    struct round *const round = context;
    const struct bc_run *const run = round->run;
    struct op_instance *const operation = round->operation;
    struct collective_row *const row = round->row;
    if (round->renews)
        op_renew(operation);
    prepare(round, operation);
    values[COLLECTIVE_TIME] = collective_time(operation, run->window);
    verify(round, operation);
    join_own_times(run, values[COLLECTIVE_TIME] - run->own_clock.read_ns, values);
    if (round->staged != NULL)
        values[COLLECTIVE_STAGED] = take_staged(round);
    row->operations++;
    if (run->settings.check && row->kind->check != NULL && !row->kind->check(operation))
        row->wrong++;
}

bool collective_visit(const struct collective *collective, double seconds,
                      struct collective_row *row)
{
    const struct collective_parameters *const p = &collective->parameters;
    const struct bc_run *const run = collective->run;
    const struct op_space space = {collective->device, p->memory.of[0], p->memory.of[1]};
    const struct op_space stage = {collective->device, BC_MEMORY_PINNED, BC_MEMORY_PINNED};
    const bool rotates = p->root == COLLECTIVE_ROTATE && collective_is_rooted(row->kind);
    struct op_choice choice = {
        .form = OP_BLOCKING_CALL,
        .space = &space,
        .root = rotates || !collective_is_rooted(row->kind) ? 0 : (int)p->root,
        .elements = row->elements,
        .type = row->type,
        .reduction = (enum op_reduction)p->reduction,
        .in_place = p->in_place,
        .any_root = rotates,
    };
    struct op_instance operation, staged;
    op_create(&operation, row->kind, &run->job, &choice);
    choice.space = &stage;
    const bool has_staged = collective->device != NULL;
    if (has_staged)
        op_create(&staged, row->kind, &run->job, &choice);
    struct round round = {
        .run = run,
        .operation = &operation,
        .staged = has_staged ? &staged : NULL,
        .row = row,
        .rotates = rotates,
        .renews = p->buffers == BC_BUFFERS_NEW,
    };
    const struct bc_source source = {
        .quantities = has_staged ? COLLECTIVE_QUANTITIES : COLLECTIVE_STAGED,
        .take = take,
        .context = &round,
        .slowest_of = COLLECTIVE_TIME,
        .starts = bc_run_starts(run),
        .clock_ns = run->own_clock.read_ns,
    };
    const struct bc_precise_value value = {.quantity = COLLECTIVE_TIME, .subtrahend = -1};
    row->size_bytes = op_size_bytes(&operation);
    row->in_time = bc_run_sample(run, &source, -1, seconds, &row->samples);
    if (has_staged)
        op_destroy(&staged);
    op_destroy(&operation);
    return bc_run_is_precise(run, &row->samples, row->in_time, &value, 1);
}

/* ---- the row --------------------------------------------------------------------------------- */

static void write_root(const struct collective_parameters *p, const struct op_kind *kind,
                       char root[BC_CELL_LENGTH])
{
    if (!collective_is_rooted(kind))
        (void)snprintf(root, BC_CELL_LENGTH, "NA");
    else if (p->root == COLLECTIVE_ROTATE)
        (void)snprintf(root, BC_CELL_LENGTH, "rotate");
    else
        (void)snprintf(root, BC_CELL_LENGTH, "%lld", (long long)p->root);
}

static void summarize_staged(const struct collective *collective, const struct bc_samples *samples,
                             struct collective_result *result)
{
    const struct bc_run *const run = collective->run;
    bc_run_dump(run, "staged", samples, COLLECTIVE_STAGED);
    const struct bc_summary staged = bc_run_summarize(run, samples, COLLECTIVE_STAGED, -1);
    const struct bc_summary longer =
        bc_run_summarize(run, samples, COLLECTIVE_STAGED, COLLECTIVE_TIME);
    result->staged = bc_staged_of(&collective->parameters.memory, &staged, &longer, 1.0);
}

static void summarize(const struct collective *collective, const struct collective_row *row,
                      struct collective_result *result)
{
    const struct bc_run *const run = collective->run;
    const struct bc_samples *const samples = &row->samples;
    const struct bc_precise_value value = {.quantity = COLLECTIVE_TIME, .subtrahend = -1};
    bc_run_dump(run, "time", samples, COLLECTIVE_TIME);
    bc_run_dump(run, "own", samples, COLLECTIVE_OWN);
    bc_run_dump(run, "skew", samples, COLLECTIVE_SKEW);
    result->time = bc_run_summarize(run, samples, COLLECTIVE_TIME, -1);
    result->own = bc_run_summarize(run, samples, COLLECTIVE_OWN, -1);
    result->skew = bc_run_summarize(run, samples, COLLECTIVE_SKEW, -1);
    result->outcome =
        bc_run_outcome(run, samples, bc_run_is_precise(run, samples, row->in_time, &value, 1));
    if (collective->device != NULL)
        summarize_staged(collective, samples, result);
}

void collective_conclude(const struct collective *collective, struct collective_row *row,
                         struct collective_result *result)
{
    const struct collective_parameters *const p = &collective->parameters;
    const struct bc_run *const run = collective->run;
    const struct op_kind *const kind = row->kind;
    *result = (struct collective_result){
        .operation = kind->name,
        .type = kind->no_elements ? NULL : op_type_names[row->type],
        .op = collective_reduces(kind) ? op_reduction_names[p->reduction] : NULL,
        .in_place = p->in_place ? "yes" : "no",
        .elements = kind->no_elements ? BC_NO_INTEGER : row->elements,
        .size_bytes = row->size_bytes,
        .buffers = bc_buffers_word(p->buffers),
    };
    write_root(p, kind, result->root);
    if (run->job.rank == 0)
        summarize(collective, row, result);
    const int64_t wrong = bc_sum_wrong(row->wrong, &result->outcome);
    if (wrong > 0)
        bc_output_remark(run->output, "warning",
                         "%s: wrong data in %lld operations, counted over ranks", kind->name,
                         (long long)wrong);
    result->check = !run->settings.check ? "off" : wrong > 0 ? "FAIL" : "ok";
    bc_samples_free(&row->samples);
}
