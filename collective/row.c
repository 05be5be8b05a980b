/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective.h"
#include "collective/warnings.h"

#include <math.h>
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
    bc_samples_dump(run, "staged", samples, COLLECTIVE_COUNTERPART);
    const struct bc_summary staged = bc_samples_summary(run, samples, COLLECTIVE_COUNTERPART, -1);
    const struct bc_summary longer =
        bc_samples_summary(run, samples, COLLECTIVE_COUNTERPART, COLLECTIVE_TIME);
    result->staged = bc_staged_of(&collective->parameters.memory, &staged, &longer, 1.0);
}

/* Names the verdict on the alternative, by an interval that must lie on one side of this. */
#define THRESHOLD_PCT 5.0

static const char *verdict_of(const struct bc_interval *slower_pct)
{
    if (isnan(slower_pct->lo) || isnan(slower_pct->hi))
        return NULL;
    return slower_pct->lo > THRESHOLD_PCT    ? "violated"
           : slower_pct->hi <= THRESHOLD_PCT ? "kept"
                                             : "not clear";
}

static void summarize_alternative(const struct bc_run *run, const struct bc_samples *samples,
                                  struct collective_comparison *comparison)
{
    bc_samples_dump(run, "alternative", samples, COLLECTIVE_COUNTERPART);
    comparison->time = bc_samples_summary(run, samples, COLLECTIVE_COUNTERPART, -1);
    comparison->slower_pct =
        bc_samples_summary(run, samples, COLLECTIVE_TIME, COLLECTIVE_COUNTERPART);
    bc_summary_scale(&comparison->slower_pct,
                     comparison->time.value > 0.0 ? 100.0 / comparison->time.value : NAN);
    /* No operation takes less than no time. */
    comparison->slower_pct.interval.lo =
        comparison->slower_pct.interval.lo < -100.0 ? -100.0 : comparison->slower_pct.interval.lo;
    comparison->guideline = verdict_of(&comparison->slower_pct.interval);
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
    if (row->guideline != NULL)
        summarize_alternative(run, samples, &result->comparison);
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
        .comparison.alternative = row->guideline != NULL ? row->guideline->alternative : NULL,
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
