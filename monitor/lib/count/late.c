#include "monitor/lib/count/late.h"

#include "common/stats/random.h"
#include "monitor/lib/count/handles.h"

#include <math.h>

/* ---- keeping calls --------------------------------------------------------------------------- */

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
    struct late_place *const place =
        table_entry(late->places, sizeof *place, LATE_PLACES_BITS, key);
    if (place->key != 0)
        return &late->series[place->series];
    if (late->count == LATE_SERIES_MAX)
        return NULL;
    *place = (struct late_place){key, late->count};
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

/* ---- the mean of all calls ------------------------------------------------------------------- */

/* Sums over the calls that were kept of one part. */
struct sums {
    int calls;
    double waited, ticks;                           /* sums */
    double waited_squares, ticks_squares, products; /* of distances from the means */
};

static struct sums sums_of(const struct late_series *series, const double waited[],
                           enum late_part part)
{
    struct sums sums = {0};
    for (int i = 0; i < series->kept; i++)
        if (series->call[i].part == part) {
            sums.calls++;
            sums.waited += waited[i];
            sums.ticks += (double)series->call[i].ticks;
        }
    for (int i = 0; i < series->kept; i++)
        if (series->call[i].part == part) {
            const double more = waited[i] - sums.waited / sums.calls;
            const double longer = (double)series->call[i].ticks - sums.ticks / sums.calls;
            sums.waited_squares += more * more;
            sums.ticks_squares += longer * longer;
            sums.products += more * longer;
        }
    return sums;
}

struct late_mean late_mean(const struct late_series *series, const double waited[],
                           enum late_part part, double tick)
{
    const struct sums sums = sums_of(series, waited, part);
    const struct late_sum *const all = &series->of_part[part];
    const double mean_of_kept = sums.waited / series->kept;
    if (series->kept == series->calls)
        return (struct late_mean){.mean = mean_of_kept};
    /* Too few were kept to tell how they differ: all of the time may have been waiting, or none. */
    if (sums.calls < 3 && all->calls > sums.calls)
        return (struct late_mean){
            .mean = mean_of_kept,
            .error = tick * (double)all->ticks / (double)series->calls,
        };
    if (sums.calls < 3)
        return (struct late_mean){.mean = mean_of_kept};
    /* The additional waiting in a call that takes one tick longer. */
    const double slope = sums.ticks_squares > 0.0 ? sums.products / sums.ticks_squares : 0.0;
    const double longer = (double)all->ticks / (double)all->calls - sums.ticks / sums.calls;
    const double unexplained = fmax(0.0, sums.waited_squares - slope * sums.products);
    const double left_out = 1.0 - (double)sums.calls / (double)all->calls;
    const double share = (double)all->calls / (double)series->calls;
    const double mean = share * (sums.waited / sums.calls + slope * longer);
    return (struct late_mean){
        .mean = mean,
        .error = share * sqrt(unexplained / (sums.calls - 2) / sums.calls * left_out),
        .shift = mean - mean_of_kept,
    };
}
