/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/efficiency.h"

#include <math.h>

#define UNKNOWN_MAX 0.01 /* of the snapshot, in calls whose waiting isn't known */

static struct keyed_row *total_in(const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].kind == KIND_TOTAL && rows->rows[i].operation == 0)
            return &rows->rows[i];
    return NULL;
}

/* True if nobody waits for another rank in calls of this row. */
static bool has_no_waiting(const struct keyed_row *keyed)
{
    return (keyed->kind == KIND_CALLS &&
            (keyed->operation == OPERATION_MONITOR || keyed->operation == OPERATION_OTHER_MPI)) ||
           (keyed->kind == KIND_COLL && keyed->row.ranks == 1);
}

void efficiency_set_times(struct rows *rows, const struct snapshot *snapshot)
{
    const struct keyed_row *const total = total_in(rows);
    const double threads = snapshot->threads > 1 ? snapshot->threads : 1;
    double waited_s = 0.0, known_s = 0.0;
    rows->outside = (struct times_outside){0};
    if (total == NULL)
        return;
    for (int i = 0; i < rows->count; i++) {
        const MPIX_Monitor_row *const row = &rows->rows[i].row;
        const bool is_known = rows->rows[i].kind == KIND_COLL && !isnan(row->waited_s);
        if (is_known)
            waited_s += row->waited_s;
        if (is_known || has_no_waiting(&rows->rows[i]))
            known_s += row->in_calls_s;
    }
    const double inside_s = total->row.in_calls_s;
    const double useful_s = fmax(0.0, rows->seconds - inside_s / threads);
    rows->outside = (struct times_outside){
        .ranks = 1,
        .useful_s = useful_s,
        .longest_s = useful_s,
        .longest_ideal_s = useful_s + waited_s / threads,
        .longest_unknown_s = fmax(0.0, inside_s - known_s) / threads,
    };
}

void efficiency_add_times(struct times_outside *sum, const struct times_outside *more)
{
    sum->ranks += more->ranks;
    sum->useful_s += more->useful_s;
    sum->longest_s = fmax(sum->longest_s, more->longest_s);
    sum->longest_ideal_s = fmax(sum->longest_ideal_s, more->longest_ideal_s);
    sum->longest_unknown_s = fmax(sum->longest_unknown_s, more->longest_unknown_s);
}

void efficiency_set(struct rows *rows, int ranks)
{
    struct keyed_row *const total = total_in(rows);
    const struct times_outside *const outside = &rows->outside;
    const double run_s = rows->seconds;
    if (total == NULL || outside->ranks != ranks || !(outside->longest_s > 0.0))
        return;
    MPIX_Monitor_row *const row = &total->row;
    const double mean_s = outside->useful_s / ranks,
                 ideal_s = fmin(outside->longest_ideal_s, run_s);
    row->parallel_eff_pct = 100.0 * mean_s / run_s;
    row->load_balance_pct = 100.0 * mean_s / outside->longest_s;
    row->communication_eff_pct = 100.0 * outside->longest_s / run_s;
    if (outside->longest_unknown_s > UNKNOWN_MAX * run_s)
        return;
    row->serialisation_eff_pct = 100.0 * outside->longest_s / ideal_s;
    row->transfer_eff_pct = 100.0 * ideal_s / run_s;
}
