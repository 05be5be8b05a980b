/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/measure/sequence.h"

#include "common/memory/allocate.h"
#include "common/run/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "no memory for %zu samples"

void bc_samples_begin_visit(struct bc_samples *samples)
{
    if (samples->visits > 0 && bc_samples_in_visit(samples) == 0)
        return;
    if (samples->visits == samples->visits_capacity) {
        samples->visits_capacity = samples->visits > 0 ? 2 * samples->visits : 8;
        samples->visit_starts =
            bc_reallocate(samples->visit_starts, samples->visits_capacity,
                          sizeof *samples->visit_starts, NO_MEMORY, samples->visits_capacity);
    }
    samples->visit_starts[samples->visits++] = samples->count;
}

void bc_samples_append(struct bc_samples *samples, const double *values, int quantities,
                       int slowest_rank)
{
    const size_t place = samples->count++;
    if (place == samples->capacity) {
        const size_t room = samples->capacity = place > 0 ? 2 * place : 64;
        for (int q = 0; q < quantities; q++)
            samples->values[q] =
                bc_reallocate(samples->values[q], room, sizeof **samples->values, NO_MEMORY, room);
        samples->slowest_rank = bc_reallocate(samples->slowest_rank, room,
                                              sizeof *samples->slowest_rank, NO_MEMORY, room);
    }
    for (int q = 0; q < quantities; q++)
        samples->values[q][place] = values[q];
    samples->slowest_rank[place] = slowest_rank;
}

size_t bc_samples_in_visit(const struct bc_samples *samples)
{
    return samples->visits > 0 ? samples->count - samples->visit_starts[samples->visits - 1] : 0;
}

struct bc_samples bc_samples_of_visit(const struct bc_samples *samples, size_t visit)
{
    const size_t start = samples->visit_starts[visit];
    const size_t end =
        visit + 1 < samples->visits ? samples->visit_starts[visit + 1] : samples->count;
    struct bc_samples one = {.count = end - start};
    for (int q = 0; q < BC_QUANTITIES_MAX && samples->values[q] != NULL; q++)
        one.values[q] = samples->values[q] + start;
    if (samples->slowest_rank != NULL)
        one.slowest_rank = samples->slowest_rank + start;
    return one;
}

struct bc_summary bc_samples_summary(const struct bc_run *run, const struct bc_samples *samples,
                                     int quantity, int subtrahend)
{
    double *const values = bc_allocate(samples->count, sizeof *values, NO_MEMORY, samples->count);
    for (size_t i = 0; i < samples->count; i++) {
        values[i] = samples->values[quantity][i];
        if (subtrahend >= 0)
            values[i] -= samples->values[subtrahend][i];
    }
    const struct bc_summary summary = bc_summarize_visits(
        values, samples->count, samples->visit_starts, samples->visits,
        (enum bc_estimator)run->settings.estimator, run->settings.confidence_pct / 100.0);
    free(values);
    return summary;
}

struct bc_outcome bc_samples_outcome(const struct bc_run *run, const struct bc_samples *samples,
                                     bool precise)
{
    struct bc_outcome outcome = run->visited;
    outcome.samples = (int64_t)samples->count;
    outcome.status = precise ? BC_OK : BC_BUDGET;
    outcome.slowest_rank = bc_samples_slowest_rank(samples, run->job.ranks);
    return outcome;
}

void bc_samples_dump(const struct bc_run *run, const char *name, const struct bc_samples *samples,
                     int quantity)
{
    size_t sample = 0;
    for (size_t v = 0; v < samples->visits; v++) {
        const struct bc_samples visit = bc_samples_of_visit(samples, v);
        for (size_t i = 0; i < visit.count; i++)
            bc_dump_sample(run, name, v + 1, ++sample, visit.values[quantity][i]);
    }
}

int bc_samples_slowest_rank(const struct bc_samples *samples, int ranks)
{
    if (samples->count == 0)
        return -1;
    int *const rounds = bc_allocate((size_t)ranks, sizeof *rounds, "no memory for %d ranks", ranks);
    for (size_t i = 0; i < samples->count; i++)
        rounds[samples->slowest_rank[i]]++;
    int slowest = 0;
    for (int rank = 1; rank < ranks; rank++)
        if (rounds[rank] > rounds[slowest])
            slowest = rank;
    free(rounds);
    return slowest;
}

void bc_samples_clear(struct bc_samples *samples)
{
    samples->count = 0;
    samples->visits = 0;
}

void bc_samples_free(struct bc_samples *samples)
{
    for (int q = 0; q < BC_QUANTITIES_MAX; q++)
        free(samples->values[q]);
    free(samples->slowest_rank);
    free(samples->visit_starts);
    if (samples->dropped != NULL)
        bc_samples_free(samples->dropped);
    free(samples->dropped);
    *samples = (struct bc_samples){0};
}
