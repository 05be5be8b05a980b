#include "monitor/late.h"

#include <stddef.h>

/* A number of 64 bits from one (S. Vigna's splitmix64). */
static uint64_t hash_of(int64_t number)
{
    uint64_t x = (uint64_t)number + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool is_chosen(int64_t number, int halvings)
{
    return halvings == 0 || hash_of(number) >> (64 - halvings) == 0;
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
    const int32_t key = communicator << 8 | kind;
    int i = 0;
    while (i < late->count && late->key[i] != key)
        i++;
    if (i == LATE_SERIES_MAX)
        return NULL;
    if (i == late->count) {
        late->key[late->count++] = key;
        late->series[i].communicator = communicator;
        late->series[i].kind = kind;
    }
    return &late->series[i];
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
