/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/virtual/plan.h"

#include "tests/virtual/algorithms.h"
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Lognormal with median 1 (normal by G. E. P. Box and M. E. Muller, Annals of Mathematical
   Statistics 29, 1958). */
static double spread_factor(double spread, uint64_t state)
{
    if (spread == 0.0)
        return 1.0;
    const double radius = sqrt(-2.0 * log1p(-world_random(&state)));
    return exp(spread * radius * cos(2.0 * 3.14159265358979323846 * world_random(&state)));
}

/* Factor by which this launch's durations are longer. */
static double launch_factor(void)
{
    return spread_factor(parameters.launch_spread,
                         (uint64_t)parameters.seed * 7919 + (uint64_t)world->launch);
}

/* The seed of an operation's own chances, the same on every rank that has one of this number. */
static uint64_t chances(uint64_t number)
{
    return ((uint64_t)parameters.late_seed * 104729 + (uint64_t)world->launch) ^
           ((number + 1) * UINT64_C(0xd1342543de82ef95));
}

/* True if MODEL_BLOCKING_US sets this blocking operation's duration. */
static bool has_blocking_duration(enum plan_kind kind)
{
    return (kind == PLAN_BLOCKING || kind == PLAN_NEIGHBOURHOOD || kind == PLAN_BLOCKING_SEND ||
            kind == PLAN_BLOCKING_RECEIVE) &&
           !isnan(parameters.blocking_ns);
}

/* The time that MODEL_SWITCHES adds to a message or one-sided operation. */
static double switches_ns(int64_t bytes)
{
    const char *text = getenv("MODEL_SWITCHES");
    double ns = 0.0;
    while (text != NULL && *text != '\0') {
        double values[3]; /* limit in bytes, us, ns per byte */
        for (int i = 0; i < 3; i++) {
            char *end;
            values[i] = strtod(text, &end);
            text = end + (*end == ':' || *end == ',');
        }
        if ((double)bytes > values[0])
            ns += 1e3 * values[1] + values[2] * ((double)bytes - values[0]);
    }
    return ns;
}

double plan_duration_ns(enum plan_kind kind, int64_t bytes)
{
    if (kind == PLAN_BLOCKING && algorithm_chosen() != ALGORITHM_NONE)
        return 0.0;
    double ns = has_blocking_duration(kind)    ? parameters.blocking_ns
                : kind == PLAN_COLLECTIVE      ? parameters.duration_ns
                : kind == PLAN_NEIGHBOURHOOD   ? parameters.duration_ns
                : kind == PLAN_BARRIER         ? parameters.barrier_ns
                : kind == PLAN_SYNCHRONISATION ? parameters.sync_ns
                : kind == PLAN_BLOCKING        ? parameters.barrier_ns
                                               : parameters.latency_ns;
    ns += parameters.per_byte_ns * (double)bytes;
    if (kind >= PLAN_SEND && kind <= PLAN_ONE_SIDED)
        ns += switches_ns(bytes);
    if ((double)bytes == parameters.slow_bytes)
        ns *= 1.0 + parameters.slow_share;
    return ns;
}

double plan_fraction(enum plan_kind kind)
{
    if (kind == PLAN_BLOCKING || kind == PLAN_BARRIER || has_blocking_duration(kind))
        return 1.0;
    if (!isnan(parameters.fraction))
        return parameters.fraction;
    return kind == PLAN_COLLECTIVE || kind == PLAN_NEIGHBOURHOOD ? 0.0 : 1.0;
}

double plan_factor(uint64_t number)
{
    return launch_factor() * spread_factor(parameters.jitter, ~chances(number));
}

static bool is_late(uint64_t number)
{
    uint64_t state = chances(number);
    return parameters.late_share > 0.0 && world_random(&state) < parameters.late_share;
}

void plan_make(struct plan *plan, enum plan_kind kind, int64_t bytes, uint64_t number,
               double longer)
{
    const double factor = clock_factor() * launch_factor() *
                          clock_recorded_factor(chances(number) * 3) *
                          spread_factor(parameters.jitter, ~chances(number));
    const double duration_ns = plan_duration_ns(kind, bytes) * factor * longer;
    const int64_t alone_ns = llround(plan_fraction(kind) * duration_ns);
    const double stage_ns = !isnan(parameters.progress_ns)
                                ? parameters.progress_ns * factor
                                : ceil(parameters.progress_share * (double)alone_ns);
    const bool in_stages = kind != PLAN_BLOCKING && kind != PLAN_BARRIER &&
                           kind != PLAN_NEIGHBOURHOOD && kind != PLAN_BLOCKING_SEND &&
                           kind != PLAN_BLOCKING_RECEIVE && stage_ns < (double)alone_ns;
    *plan = (struct plan){
        .stage_ns = in_stages ? (int64_t)stage_ns : alone_ns,
        .stage_end_ns = PLAN_UNKNOWN,
        .late_ns = is_late(number) ? llround(parameters.late_ns * factor) : 0,
        /* clock_spend multiplies by the machine's factor, so divide here. */
        .host_ns = (duration_ns - (double)alone_ns) / clock_factor(),
    };
    plan->left_ns = alone_ns - plan->stage_ns;
}

/* Starts the next stage; left_ns still contains it before the call. */
static void start_stage(struct plan *plan, int64_t at_ns)
{
    const int64_t ns = plan->stage_ns < plan->left_ns ? plan->stage_ns : plan->left_ns;
    plan->left_ns -= ns;
    plan->stage_end_ns = at_ns + ns + (plan->left_ns == 0 ? plan->late_ns : 0);
}

void plan_start(struct plan *plan, int64_t start_ns)
{
    plan->left_ns += plan->stage_ns;
    start_stage(plan, start_ns);
}

int64_t plan_after_gap(int64_t *last_ns, int64_t at_ns)
{
    const int64_t gap_ns = llround(parameters.gap_ns * clock_factor());
    const int64_t start_ns = *last_ns + gap_ns > at_ns && gap_ns > 0 ? *last_ns + gap_ns : at_ns;
    *last_ns = start_ns;
    return start_ns;
}

bool plan_test(struct plan *plan, int64_t at_ns)
{
    if (plan->stage_end_ns > at_ns)
        return false;
    if (plan->left_ns == 0)
        return true;
    start_stage(plan, at_ns);
    return false;
}

int64_t plan_end_ns(const struct plan *plan, int64_t call_ns)
{
    if (plan->stage_end_ns == PLAN_UNKNOWN)
        return PLAN_UNKNOWN;
    const int64_t at_ns = plan->stage_end_ns > call_ns ? plan->stage_end_ns : call_ns;
    return plan->left_ns == 0 ? at_ns : at_ns + plan->left_ns + plan->late_ns;
}
