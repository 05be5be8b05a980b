#include "collective/collective.h"
#include "collective/warnings.h"

#include <stdio.h>

const struct bc_quantities collective_quantities = {
    .count = COLLECTIVE_QUANTITIES,
    .slowest_of = COLLECTIVE_TIME,
    .clock_readings = 1.0,
};

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
    bc_samples_dump(run, "staged", samples, COLLECTIVE_STAGED);
    const struct bc_summary staged = bc_samples_summary(run, samples, COLLECTIVE_STAGED, -1);
    const struct bc_summary longer =
        bc_samples_summary(run, samples, COLLECTIVE_STAGED, COLLECTIVE_TIME);
    result->staged = bc_staged_of(&collective->parameters.memory, &staged, &longer, 1.0);
}

static void summarize(const struct collective *collective, const struct collective_row *row,
                      struct collective_result *result)
{
    const struct bc_run *const run = collective->run;
    const struct bc_samples *const samples = &row->store.samples;
    bc_samples_dump(run, "time", samples, COLLECTIVE_TIME);
    bc_samples_dump(run, "own", samples, COLLECTIVE_OWN);
    bc_samples_dump(run, "skew", samples, COLLECTIVE_SKEW);
    result->time = bc_samples_summary(run, samples, COLLECTIVE_TIME, -1);
    result->own = bc_samples_summary(run, samples, COLLECTIVE_OWN, -1);
    result->skew = bc_samples_summary(run, samples, COLLECTIVE_SKEW, -1);
    result->outcome = bc_samples_outcome(
        run, samples, bc_store_is_precise(run, &collective_quantities, &row->store));
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
        bc_output_remark(run->output, COLLECTIVE_WARNING_WRONG_DATA, kind->name, (long long)wrong);
    result->check = !run->settings.check ? "off" : wrong > 0 ? "FAIL" : "ok";
    bc_store_free(&row->store);
}
