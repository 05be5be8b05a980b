#include "run_scripts/bench_compare/compare.h"

#include "run_scripts/bench_compare/rank_test.h"
#include "run_scripts/bench_compare/storage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_names[VERDICTS] = {
    [SLOWER] = "slower", [FASTER] = "faster",   [SAME] = "same",   [CANT_TELL] = "can't tell",
    [FAILED] = "failed", [MISSING] = "missing", [ADDED] = "added",
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static double *logarithms(const struct values *values)
{
    double *const logs = allocate(values->count, sizeof *logs);
    for (size_t i = 0; i < values->count; i++)
        logs[i] = log(values->values[i]);
    return logs;
}

/* The change where all values are above 0: of their ratio. */
static void estimate_ratio(struct change *change, double confidence)
{
    const struct values *const base = &change->series->sides[BASE];
    const struct values *const new = &change->series->sides[NEW];
    double *const base_logs = logarithms(base), *const new_logs = logarithms(new);
    const struct bc_shift shift =
        bc_rank_shift(base_logs, base->count, new_logs, new->count, confidence);
    change->change_pct = 100.0 * expm1(shift.value);
    change->interval.lo = 100.0 * expm1(shift.interval.lo);
    change->interval.hi = 100.0 * expm1(shift.interval.hi);
    free(base_logs);
    free(new_logs);
}

/* The change from the difference: in points, or over the base's median. Where that
   is 0 or less a change has no size in percent, unless there is none. */
static void estimate_difference(struct change *change, double confidence)
{
    const struct values *const base = &change->series->sides[BASE];
    const struct values *const new = &change->series->sides[NEW];
    const struct bc_shift shift =
        bc_rank_shift(base->values, base->count, new->values, new->count, confidence);
    double scale = change->points ? 1.0 : 100.0 / change->base;
    if (!change->points && change->base <= 0.0)
        scale = NAN;
    const bool none = shift.interval.lo >= 0.0 && shift.interval.hi <= 0.0;
    change->change_pct = none ? 0.0 : shift.value * scale;
    change->interval.lo = none ? 0.0 : shift.interval.lo * scale;
    change->interval.hi = none ? 0.0 : shift.interval.hi * scale;
}

/* All but what depends on other rows. */
static void estimate(struct change *change, const struct limits *limits)
{
    const struct values *const base = &change->series->sides[BASE];
    const struct values *const new = &change->series->sides[NEW];
    change->points =
        ends_with(change->series->quantity, "_pct") || ends_with(change->series->quantity, "(%)");
    change->base = bc_median(base->values, base->count); /* sorts */
    change->new = bc_median(new->values, new->count);
    change->change_pct = change->p = change->corrected_p = NAN;
    change->interval = (struct bc_interval){NAN, NAN};
    change->verdict = CANT_TELL;
    if (new->failed > 0)
        change->verdict = FAILED;
    else if (new->count == 0)
        change->verdict = MISSING;
    else if (base->count == 0)
        change->verdict = ADDED;
    if (base->count == 0 || new->count == 0)
        return;
    if (!change->points && base->values[0] > 0.0 && new->values[0] > 0.0)
        estimate_ratio(change, limits->confidence);
    else
        estimate_difference(change, limits->confidence);
    if (change->verdict == CANT_TELL)
        change->p = bc_rank_sum_p(base->values, base->count, new->values, new->count);
}

/* The verdict on a row that was tested. */
static enum verdict judge(const struct change *change, const struct limits *limits)
{
    const double threshold_pct = limits->threshold_pct;
    const bool sized = !isnan(change->change_pct);
    /* Any change from nothing to something is more than a share of it. */
    const bool matters =
        sized ? fabs(change->change_pct) >= threshold_pct && fabs(change->change_pct) > 0.0
              : change->new > 0.0;
    if (change->corrected_p <= limits->alpha && matters) {
        const bool up = !sized || change->change_pct > 0.0;
        return up == change->series->more ? FASTER : SLOWER;
    }
    if (change->interval.lo >= -threshold_pct && change->interval.hi <= threshold_pct)
        return SAME;
    return CANT_TELL;
}

/* Holm's correction, over all rows that were tested. */
static void correct(struct comparison *comparison)
{
    double *const p = allocate(comparison->count, sizeof *p);
    for (size_t i = 0; i < comparison->count; i++)
        if (!isnan(comparison->changes[i].p))
            p[comparison->tested++] = comparison->changes[i].p;
    bc_holm(p, p, comparison->tested);
    size_t next = 0;
    for (size_t i = 0; i < comparison->count; i++)
        if (!isnan(comparison->changes[i].p))
            comparison->changes[i].corrected_p = p[next++];
    free(p);
}

/* Finds the rows in which nothing could be significant, were it the only one. */
static void count_hopeless(struct comparison *comparison, const struct limits *limits)
{
    const double rows = (double)comparison->tested;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct change *const change = &comparison->changes[i];
        const struct values *const sides = change->series->sides;
        if (isnan(change->p) ||
            rows * bc_rank_sum_least_p(sides[BASE].count, sides[NEW].count) <= limits->alpha)
            continue;
        comparison->hopeless++;
        comparison->hopeless_launches[BASE] = sides[BASE].count;
        comparison->hopeless_launches[NEW] = sides[NEW].count;
    }
    for (size_t n = 1; n <= BC_RANK_MAX && comparison->enough_launches == 0; n++)
        if (rows * bc_rank_sum_least_p(n, n) <= limits->alpha)
            comparison->enough_launches = n;
}

void compare(struct comparison *comparison, const struct results *results,
             const struct limits *limits)
{
    *comparison = (struct comparison){
        .changes = allocate(results->series_count, sizeof *comparison->changes)};
    for (size_t i = 0; i < results->series_count; i++) {
        const struct values *const sides = results->series[i].sides;
        if (sides[BASE].count == 0 && sides[NEW].count == 0 && sides[NEW].failed == 0)
            continue;
        struct change *const change = &comparison->changes[comparison->count++];
        change->series = &results->series[i];
        estimate(change, limits);
    }
    correct(comparison);
    for (size_t i = 0; i < comparison->count; i++) {
        struct change *const change = &comparison->changes[i];
        if (!isnan(change->p))
            change->verdict = judge(change, limits);
        comparison->verdicts[change->verdict]++;
    }
    count_hopeless(comparison, limits);
}
