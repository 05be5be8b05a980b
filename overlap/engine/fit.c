/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap/engine/fit.h"

#include "common/measure/plan.h"
#include "overlap/engine/row.h"

#include <math.h>

/* ---- the search ------------------------------------------------------------------------------ */

/* Exceeds the trials of a bisection to one part in a million, contradictions included. */
#define TRIALS_MAX 200

double overlap_search_tolerance(const struct overlap_search *search, double work_ns)
{
    return fmax(search->rules.acceptance * work_ns, search->rules.floor_ns);
}

void overlap_search_begin(struct overlap_search *search, const struct overlap_search_rules *rules,
                          double reference_ns)
{
    *search = (struct overlap_search){
        .rules = *rules,
        .reference_ns = reference_ns,
        .next_ns = reference_ns,
        .exceeds_ns = INFINITY,
        .knee_ns = NAN,
        .knee_hi_ns = NAN,
        .halving = true,
        .last_width_ns = INFINITY,
        .earlier_width_ns = INFINITY,
    };
}

/* Phase 3: half of the work may fit. A prediction saves trying halves well above the knee. */
static void halve(struct overlap_search *search)
{
    const double min_ns = search->rules.floor_ns;
    search->done = search->converged = search->exceeds_ns <= min_ns;
    search->next_ns = search->exceeds_ns / 2.0;
    while (search->rules.robust && search->next_ns > min_ns && search->next_ns > search->knee_hi_ns)
        search->next_ns /= 2.0;
}

/* Nothing fits above the reference time; without prediction there is nothing to learn there. */
static void raise_unbounded(struct overlap_search *search)
{
    if (!search->rules.robust) {
        search->done = search->converged =
            search->fits_ns >=
            search->reference_ns - overlap_search_tolerance(search, search->reference_ns);
        search->next_ns = search->reference_ns;
        return;
    }
    /* Doubles the distance above the reference each time. */
    const double above_ns = fmax(0.0, search->fits_ns - search->reference_ns);
    search->next_ns =
        search->reference_ns + 2.0 * above_ns + overlap_search_tolerance(search, search->fits_ns);
    search->done = search->fits_ns >= 2.0 * search->reference_ns;
}

/* Returns an amount between the bounds: next to the predicted knee, or halfway. */
static double next_between(struct overlap_search *search)
{
    const double width = search->exceeds_ns - search->fits_ns;
    const double middle = search->fits_ns + width / 2.0;
    const double knee = search->knee_ns;
    /* A prediction is used up when its sides were tried: the bracket must have shrunk. */
    const bool shrinking = width <= search->earlier_width_ns / 2.0;
    search->earlier_width_ns = search->last_width_ns;
    search->last_width_ns = width;
    if (!search->rules.robust || !shrinking || !(knee < search->exceeds_ns))
        return middle;
    /* Both sides together end the search. */
    const double beside = 0.45 * overlap_search_tolerance(search, knee);
    if (knee - beside > search->fits_ns)
        return knee - beside;
    if (knee + beside > search->fits_ns && knee + beside < search->exceeds_ns)
        return knee + beside;
    return middle;
}

/* Phase 4. */
static void raise(struct overlap_search *search)
{
    if (isinf(search->exceeds_ns)) {
        raise_unbounded(search);
        return;
    }
    const double width = search->exceeds_ns - search->fits_ns;
    search->done = search->converged =
        width <= overlap_search_tolerance(search, search->exceeds_ns);
    if (!search->done)
        search->next_ns = next_between(search);
}

static void take_fit(struct overlap_search *search, const struct overlap_trial *trial)
{
    search->failures = 0;
    search->halving = false;
    if (trial->work_ns > search->fits_ns) {
        search->fits_ns = trial->work_ns;
        search->fits_slack_ns = trial->excess_hi_ns < 0.0 ? 0.0 : trial->excess_hi_ns;
    }
    /* This amount fits, so smaller amounts do: look above again. */
    if (search->exceeds_ns <= search->fits_ns)
        search->exceeds_ns = INFINITY;
    raise(search);
}

static void take_failure(struct overlap_search *search, const struct overlap_trial *trial)
{
    const bool validate = !search->halving || search->rules.robust;
    search->failures++;
    /* The best guess if the time ends before validation. */
    if (isnan(search->knee_ns))
        search->knee_ns = fmax(0.0, trial->work_ns - trial->excess_ns);
    if (validate && search->failures <= search->rules.validation_steps)
        return; /* the same work once more */
    search->failures = 0;
    if (trial->work_ns < search->exceeds_ns) {
        search->exceeds_ns = trial->work_ns;
        search->knee_ns = fmax(0.0, trial->work_ns - trial->excess_ns);
        search->knee_hi_ns = trial->work_ns - trial->excess_lo_ns;
        search->exceeds_is_sure = !isnan(trial->excess_lo_ns);
    }
    /* This amount doesn't fit, so larger amounts don't. */
    if (search->fits_ns >= search->exceeds_ns) {
        search->fits_ns = 0.0;
        search->fits_slack_ns = 0.0;
        search->last_width_ns = INFINITY;
        search->earlier_width_ns = INFINITY;
    }
    if (search->halving)
        halve(search);
    else
        raise(search);
}

void overlap_search_report(struct overlap_search *search, const struct overlap_trial *trial)
{
    search->trials++;
    if (trial->fits)
        take_fit(search, trial);
    else
        take_failure(search, trial);
    if (search->trials >= TRIALS_MAX)
        search->done = true;
}

/* ---- work that fits -------------------------------------------------------------------------- */

/* Returns the last printed digit of a time in ns: 0.001 us, or in a table the fifth digit. */
static double digit_ns(double ns, bool in_table)
{
    const double us = ns * 1e-3;
    return in_table && us >= 100.0 ? 1e3 * pow(10.0, floor(log10(us)) - 4.0) : 1.0;
}

/* Round a time to its printed digit, down and up. */
static double printed_min_ns(double ns, bool in_table)
{
    const double digit = digit_ns(ns, in_table);
    return isnan(ns) ? 0.0 : ceil(ns / digit - 0.5) * digit;
}

static double printed_max_ns(double ns, bool in_table)
{
    const double digit = digit_ns(ns, in_table);
    return floor(ns / digit + 0.5) * digit;
}

struct bc_summary overlap_reference_of(const struct overlap_state *overlap,
                                       const struct overlap_row *row)
{
    const struct bc_samples *const samples =
        overlap_is_robust(overlap->run) ? &row->rounds : &row->reference_phase;
    return overlap_summary_of(overlap->run, samples, OVERLAP_REFERENCE);
}

/* True if these times, as printed, keep the guarantee. */
static bool keeps_guarantee(const struct overlap_state *overlap, const struct bc_summary *reference,
                            const struct bc_summary *work, const struct bc_summary *total,
                            bool in_table)
{
    const double factor = 1.0 + overlap->parameters.acceptance_pct / 100.0;
    const double reference_ns = printed_min_ns(reference->value, in_table);
    const double allowed_ns = overlap_is_robust(overlap->run)
                                  ? factor * reference_ns
                                  : reference_ns + printed_min_ns(reference->sd, in_table);
    return printed_max_ns(total->value, in_table) <= allowed_ns &&
           printed_max_ns(work->value, in_table) <= factor * printed_min_ns(total->value, in_table);
}

/* True if the row has the rounds that --min-samples or a fixed number asks for, or, when time is
   up, enough for an interval. */
static bool has_enough_rounds(const struct bc_run *run, const struct overlap_row *row)
{
    const struct bc_settings *const s = &run->settings;
    const int64_t asked = s->samples > 0 ? s->samples : s->min_samples;
    return (int64_t)row->rounds.count >= (asked < BC_LEAST_SAMPLES ? asked : BC_LEAST_SAMPLES);
}

/* True if an amount is work: units of the processor, or a kernel, which takes time even without
   steps. */
static bool is_work(const struct overlap_state *overlap, const struct overlap_row *row, int amount)
{
    return overlap->worker.device != NULL ? row->knee_ns > 0.0 : row->amount_part_units[amount] > 0;
}

int overlap_fitting_amount(const struct overlap_state *overlap, const struct overlap_row *row)
{
    const struct bc_run *const run = overlap->run;
    if (!has_enough_rounds(run, row))
        return OVERLAP_NO_AMOUNT;
    const struct bc_summary reference = overlap_reference_of(overlap, row);
    for (int i = 0; i < OVERLAP_AMOUNTS && is_work(overlap, row, i); i++) {
        const struct bc_summary work = overlap_summary_of(run, &row->rounds, OVERLAP_WORK + i);
        const struct bc_summary total = overlap_summary_of(run, &row->rounds, OVERLAP_TOTAL + i);
        if (keeps_guarantee(overlap, &reference, &work, &total, false) &&
            keeps_guarantee(overlap, &reference, &work, &total, true))
            return i;
    }
    return OVERLAP_NO_AMOUNT;
}
