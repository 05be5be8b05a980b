/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/late.h"

#include "common/stats/random.h"
#include "monitor/lib/count/handles.h"

static bool is_chosen(int64_t number, int halvings)
{
    uint64_t state = (uint64_t)number;
    return halvings == 0 || bc_random_next(&state) >> (64 - halvings) == 0;
}

static void halve(struct late_series *series)
{
    int kept = 0;
    series->halvings++;
    for (int i = 0; i < series->kept; i++)
        if (is_chosen(series->call[i].number, series->halvings))
            series->call[kept++] = series->call[i];
    series->kept = kept;
}

static struct late_series *series_of(struct late *late, int communicator, int kind)
{
    const uint64_t key = ((uint64_t)communicator << 8 | (uint64_t)kind) + 1;
    struct late_slot *const slot = table_entry(late->slots, sizeof *slot, LATE_SLOTS_BITS, key);
    if (slot->key != 0)
        return &late->series[slot->series];
    if (late->count == LATE_SERIES_MAX)
        return NULL;
    *slot = (struct late_slot){key, late->count};
    struct late_series *const series = &late->series[late->count++];
    series->communicator = communicator;
    series->kind = kind;
    return series;
}

bool late_add(struct late *late, int communicator, int kind, struct late_call call)
{
    struct late_series *const series = series_of(late, communicator, kind);
    if (series == NULL)
        return false;
    call.number = series->calls++;
    series->of_part[call.part].calls++;
    series->of_part[call.part].ticks += call.ticks;
    while (is_chosen(call.number, series->halvings) && series->kept == LATE_KEPT_MAX)
        halve(series);
    if (is_chosen(call.number, series->halvings))
        series->call[series->kept++] = call;
    return true;
}
