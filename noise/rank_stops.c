/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise/rank_stops.h"

#include "common/memory/allocate.h"

#include <math.h>
#include <stdlib.h>

void noise_stops_begin_visit(struct noise_stops *stops)
{
    const int count = ++stops->visit_count;
    stops->visits =
        bc_reallocate(stops->visits, (size_t)count, sizeof *stops->visits, "no memory for visits");
    stops->visits[count - 1] = (struct noise_watch){0};
}

double noise_usual_ns(const int64_t *readings_ns, int count)
{
    enum { LOOKED_AT = 256 };
    double lengths_ns[LOOKED_AT];
    const int each = (count + LOOKED_AT - 1) / LOOKED_AT;
    size_t looked_at = 0;
    for (int i = 0; i < count; i += each)
        lengths_ns[looked_at++] = (double)(readings_ns[i + 1] - readings_ns[i]);
    return bc_median(lengths_ns, looked_at);
}

static void add_stop(struct noise_stops *stops, int64_t begin_ns, int64_t length_ns)
{
    struct noise_watch *const watch = &stops->visits[stops->visit_count - 1];
    watch->stops++;
    watch->stopped_ns += length_ns;
    if (stops->count == stops->capacity) {
        stops->capacity = stops->capacity > 0 ? 2 * stops->capacity : 64;
        stops->stop = bc_reallocate(stops->stop, stops->capacity, sizeof *stops->stop,
                                    "no memory for %zu stops", stops->capacity);
    }
    stops->stop[stops->count++] = (struct noise_stop){begin_ns, length_ns};
}

void noise_stops_add(struct noise_stops *stops, const int64_t *readings_ns, int count,
                     double min_stop_ns)
{
    struct noise_watch *const watch = &stops->visits[stops->visit_count - 1];
    const double usual_ns = noise_usual_ns(readings_ns, count);
    if (stops->count >= NOISE_STOPS_MAX) {
        stops->left_out++;
        return;
    }
    const int64_t whole_ns = llround(usual_ns);
    const int64_t long_ns = (int64_t)ceil(usual_ns + min_stop_ns);
    for (int i = 0; i < count; i++) {
        const int64_t length_ns = readings_ns[i + 1] - readings_ns[i];
        if (length_ns > long_ns)
            add_stop(stops, readings_ns[i] + whole_ns / 2, length_ns - whole_ns);
    }
    if (watch->quanta == 0)
        watch->begin_ns = readings_ns[0];
    watch->end_ns = readings_ns[count];
    watch->watched_ns += readings_ns[count] - readings_ns[0];
    watch->quanta += count;
}

void noise_stops_drop_cut_visit(struct noise_stops *stops)
{
    enum { PART = 5 };
    int64_t longest_ns = 0;
    for (int i = 0; i < stops->visit_count; i++)
        if (stops->visits[i].watched_ns > longest_ns)
            longest_ns = stops->visits[i].watched_ns;
    if (stops->visit_count == 0)
        return;
    struct noise_watch *const last = &stops->visits[stops->visit_count - 1];
    if (last->watched_ns >= longest_ns / PART)
        return;
    stops->count -= (size_t)last->stops;
    *last = (struct noise_watch){0};
}

int noise_last_watched(const struct noise_stops *stops)
{
    int visit = stops->visit_count - 1;
    while (visit > 0 && stops->visits[visit].quanta == 0)
        visit--;
    return visit;
}

void noise_stops_free(struct noise_stops *stops)
{
    free(stops->stop);
    free(stops->visits);
    *stops = (struct noise_stops){0};
}

/* ---- histograms ------------------------------------------------------------------------------ */

void noise_histogram_add(struct noise_histogram *histogram, int64_t ns)
{
    const double bin = ns > 1 ? floor(log2((double)ns) * NOISE_BINS_AN_OCTAVE) : 0.0;
    histogram->count[bin < NOISE_BINS ? (int)bin : NOISE_BINS - 1]++;
}

double noise_histogram_quantile(const struct noise_histogram *histogram, double p)
{
    int64_t all = 0, below = 0;
    for (int i = 0; i < NOISE_BINS; i++)
        all += histogram->count[i];
    for (int i = 0; i < NOISE_BINS; i++) {
        below += histogram->count[i];
        if (below > 0 && (double)below >= p * (double)all)
            return exp2((i + 0.5) / NOISE_BINS_AN_OCTAVE);
    }
    return NAN;
}
