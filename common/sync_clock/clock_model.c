/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/sync_clock/clock_model.h"

#include "common/stats/stats.h"

#include <math.h>
#include <string.h>

/* Exchanges that are closer in time than this contain no information on drift. */
#define CLOSE_NS 50e6

/* Halvings of the range of drifts: to a millionth of a nanosecond per second. */
enum { HALVINGS = 50 };

/* An exchange is good if its round trip exceeds the shortest by at most this share of it plus this
   time. A model still fits if its round trip is shorter by at most that. */
#define TOLERANCE_SHARE 0.25
#define TOLERANCE_NS 50.0

/* ---- hulls ----------------------------------------------------------------------------------- */

static int64_t delay_of(const struct bc_timestamps *message)
{
    return message->arrived_ns - message->sent_ns;
}

/* Returns the growth of the delay per nanosecond, from one message to a later one. */
static double slope_between(const struct bc_timestamps *first, const struct bc_timestamps *second)
{
    const int64_t rise_ns = delay_of(second) - delay_of(first);
    const int64_t run_ns = second->sent_ns - first->sent_ns;
    return (double)rise_ns / (double)run_ns;
}

/* Moves the vertices of the lower convex hull to the front of `timestamps` (Andrew's monotone
   chain). Returns their number. */
static size_t find_vertices(struct bc_timestamps *timestamps, size_t count)
{
    size_t vertices = 0;
    for (size_t i = 0; i < count; i++) {
        const struct bc_timestamps next = timestamps[i];
        /* Of messages sent at the same time, since a clock stood still, the quickest is kept. */
        if (vertices > 0 && timestamps[vertices - 1].sent_ns >= next.sent_ns) {
            if (delay_of(&timestamps[vertices - 1]) <= delay_of(&next))
                continue;
            vertices--;
        }
        while (vertices >= 2 &&
               slope_between(&timestamps[vertices - 2], &timestamps[vertices - 1]) >=
                   slope_between(&timestamps[vertices - 1], &next))
            vertices--;
        timestamps[vertices++] = next;
    }
    return vertices;
}

void bc_hull_find(struct bc_timestamps *timestamps, size_t count, struct bc_hull *hull)
{
    size_t first = 0, end = find_vertices(timestamps, count), min = 0;
    for (size_t i = 1; i < end; i++)
        if (delay_of(&timestamps[i]) < delay_of(&timestamps[min]))
            min = i;
    while (first < min && slope_between(&timestamps[first], &timestamps[first + 1]) < -BC_DRIFT_MAX)
        first++;
    while (end > min + 1 &&
           slope_between(&timestamps[end - 2], &timestamps[end - 1]) > BC_DRIFT_MAX)
        end--;
    while (end - first > BC_HULL_MAX)
        if (min - first > end - 1 - min)
            first++;
        else
            end--;
    hull->count = (int64_t)(end - first);
    memcpy(hull->timestamps, timestamps + first, (end - first) * sizeof *timestamps);
}

/* ---- round trips ----------------------------------------------------------------------------- */

/* Exchanges, and an origin near them, so that differences from it are small enough to be exact in a
   double: when the other clock shows at_ns, it is ahead_ns ahead. */
struct frame {
    const struct bc_exchange *exchanges;
    size_t count;
    int64_t at_ns, ahead_ns;
    double near_ns, rate; /* heights grow by `rate` with the distance from near_ns: see max_error */
};

static struct frame frame_of(const struct bc_exchange *exchanges, size_t count)
{
    const struct bc_timestamps *const newest = &exchanges[count - 1].there.timestamps[0];
    return (struct frame){exchanges, count, newest->arrived_ns, delay_of(newest), 0.0, 0.0};
}

/* A line that supports hulls from below. */
struct line {
    double height_ns; /* at at_ns */
    double time_ns;   /* time of the vertex that it touches */
};

struct lines {
    struct line there, back;
};

/* Lowers a line, with the slope of a drift of the other clock, to the hull of one direction: `sign`
   is 1 there and -1 back. */
static void lower(struct line *line, const struct frame *frame, const struct bc_hull *hull,
                  double drift, int sign)
{
    for (int64_t i = 0; i < hull->count; i++) {
        const struct bc_timestamps *const message = &hull->timestamps[i];
        const int64_t other_ns = sign > 0 ? message->arrived_ns : message->sent_ns;
        const double time_ns = (double)(other_ns - frame->at_ns);
        const double height_ns = (double)(delay_of(message) - sign * frame->ahead_ns) -
                                 sign * drift * time_ns +
                                 frame->rate * fabs(time_ns - frame->near_ns);
        if (height_ns < line->height_ns)
            *line = (struct line){height_ns, time_ns};
    }
}

/* Returns the lines that support `count` exchanges from `first` on. */
static struct lines lines_of(const struct frame *frame, size_t first, size_t count, double drift)
{
    struct lines lines = {{INFINITY, 0.0}, {INFINITY, 0.0}};
    for (size_t i = first; i < first + count; i++) {
        lower(&lines.there, frame, &frame->exchanges[i].there, drift, 1);
        lower(&lines.back, frame, &frame->exchanges[i].back, drift, -1);
    }
    return lines;
}

static double round_trip_of(const struct lines *lines)
{
    return lines->there.height_ns + lines->back.height_ns;
}

/* Returns the lead of the other clock, if both delays are equal. */
static double ahead_of(const struct lines *lines)
{
    return (lines->there.height_ns - lines->back.height_ns) / 2.0;
}

/* Returns the drift up to which the round trip grows by more than `rate` with the drift. The round
   trip is concave in the drift, as a sum of minima of linear functions; its derivative is the
   difference of the times at which the lines touch the hulls. */
static double grows_up_to(const struct frame *frame, double rate)
{
    double lo = -BC_DRIFT_MAX, hi = BC_DRIFT_MAX;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (lo + hi) / 2.0;
        const struct lines lines = lines_of(frame, 0, frame->count, middle);
        if (lines.back.time_ns - lines.there.time_ns > rate)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Returns the drift with the longest round trip: the middle of those for which it is nearly the
   longest, since both lines then touch messages of about the same time. */
static double best_drift(const struct frame *frame)
{
    return (grows_up_to(frame, CLOSE_NS) + grows_up_to(frame, -CLOSE_NS)) / 2.0;
}

/* ---- single exchanges ------------------------------------------------------------------------ */

static double min_round_trip(const struct frame *frame, double drift)
{
    double min_ns = INFINITY;
    for (size_t i = 0; i < frame->count; i++) {
        const struct lines lines = lines_of(frame, i, 1, drift);
        min_ns = fmin(min_ns, round_trip_of(&lines));
    }
    return min_ns;
}

static double tolerance_of(double round_trip_ns)
{
    return TOLERANCE_SHARE * fmax(0.0, round_trip_ns) + TOLERANCE_NS;
}

/* Returns the time of an exchange, relative to the frame's origin. */
static double time_of(const struct frame *frame, size_t i)
{
    return (double)(frame->exchanges[i].there.timestamps[0].arrived_ns - frame->at_ns);
}

/* The exchanges whose round trips are about as short as the shortest. */
struct good_exchanges {
    double time_ns[BC_EXCHANGES_MAX], ahead_ns[BC_EXCHANGES_MAX];
    size_t count;
    double span_ns; /* from the first to the last */
};

static void find_good(const struct frame *frame, double drift, struct good_exchanges *good)
{
    const double min_ns = min_round_trip(frame, drift);
    good->count = 0;
    for (size_t i = 0; i < frame->count; i++) {
        const struct lines lines = lines_of(frame, i, 1, drift);
        if (round_trip_of(&lines) > min_ns + tolerance_of(min_ns))
            continue;
        good->time_ns[good->count] = time_of(frame, i);
        good->ahead_ns[good->count++] = ahead_of(&lines);
    }
    good->span_ns = good->time_ns[good->count - 1] - good->time_ns[0];
}

/* Returns the correction of the drift with which the exchanges were found good: the median of the
   slopes between exchanges that lie far apart; 0 if none do. */
static double more_drift(const struct good_exchanges *good)
{
    double slopes[BC_EXCHANGES_MAX * BC_EXCHANGES_MAX / 2];
    const double min_apart_ns = fmax(CLOSE_NS, good->span_ns / 2.0);
    size_t count = 0;
    for (size_t i = 0; i < good->count; i++)
        for (size_t j = i + 1; j < good->count; j++) {
            const double apart_ns = good->time_ns[j] - good->time_ns[i];
            if (apart_ns >= min_apart_ns)
                slopes[count++] = (good->ahead_ns[j] - good->ahead_ns[i]) / apart_ns;
        }
    return count > 0 ? bc_median(slopes, count) : 0.0;
}

/* ---- models ---------------------------------------------------------------------------------- */

struct bc_clock_model bc_clock_model_fit(const struct bc_exchange *exchanges, size_t count,
                                         struct bc_clock_model_quality *quality)
{
    const struct frame frame = frame_of(exchanges, count);
    struct good_exchanges good;
    double drift = best_drift(&frame);
    find_good(&frame, drift, &good);
    drift += more_drift(&good);
    find_good(&frame, drift, &good);
    const double ahead_ns = bc_median(good.ahead_ns, good.count); /* sorts */
    const double max_distance_ns =
        fmax(ahead_ns - good.ahead_ns[0], good.ahead_ns[good.count - 1] - ahead_ns);
    /* The estimated error of the drift: from the distances of good exchanges if these span some
       time, else half the range of drifts with about the same round trip. */
    if (good.span_ns > CLOSE_NS)
        quality->growth = 2.0 * max_distance_ns / good.span_ns;
    else
        quality->growth = (grows_up_to(&frame, -CLOSE_NS) - grows_up_to(&frame, CLOSE_NS)) / 2.0;
    quality->error_ns = max_distance_ns - quality->growth * good.time_ns[good.count - 1];
    return (struct bc_clock_model){frame.at_ns, frame.ahead_ns, ahead_ns, drift};
}

/* Returns the lead of the other clock when it shows other_ns, minus ahead_ns. */
static double beyond(const struct bc_clock_model *model, int64_t other_ns)
{
    return model->more_ns + model->drift * (double)(other_ns - model->at_ns);
}

/* Returns the maximum error of a line at time_ns: no message arrived before it was sent, which
   bounds the other clock's lead from both sides, and meanwhile one clock may have gained. */
static double max_error(struct frame frame, double drift, double ahead_ns, double time_ns,
                        double rate)
{
    frame.near_ns = time_ns;
    frame.rate = rate;
    const struct lines lines = lines_of(&frame, 0, frame.count, drift);
    return fmax(0.0, fmax(lines.there.height_ns - ahead_ns, lines.back.height_ns + ahead_ns));
}

struct bc_clock_bound bc_clock_model_bound(const struct bc_exchange *exchanges, size_t count,
                                           const struct bc_clock_model *model, double rate)
{
    const struct frame frame = frame_of(exchanges, count);
    const double first_ns = time_of(&frame, 0);
    const double ahead_ns = (double)(model->ahead_ns - frame.ahead_ns) + beyond(model, frame.at_ns);
    struct bc_clock_bound bound = {
        .first_ns = frame.at_ns + (int64_t)first_ns,
        .last_ns = frame.at_ns,
        .between = fmin(rate, BC_RATE_CHANGE),
        .outside = rate,
    };
    /* Both maxima bound the difference of the rates, which then makes the maxima smaller. */
    for (int i = 0; i < 2; i++) {
        bound.first_error_ns = max_error(frame, model->drift, ahead_ns, first_ns, bound.outside);
        bound.last_error_ns = max_error(frame, model->drift, ahead_ns, 0.0, bound.outside);
        if (first_ns < 0.0)
            bound.outside = fmin(rate, (bound.first_error_ns + bound.last_error_ns) / -first_ns +
                                           bound.between);
    }
    return bound;
}

double bc_clock_bound_ns(const struct bc_clock_bound *bound, int64_t other_ns)
{
    const double since_ns = (double)(other_ns - bound->first_ns);
    const double until_ns = (double)(bound->last_ns - other_ns);
    if (since_ns < 0.0)
        return bound->first_error_ns - bound->outside * since_ns;
    if (until_ns <= 0.0)
        return bound->last_error_ns - bound->outside * until_ns;
    return (bound->first_error_ns * until_ns + bound->last_error_ns * since_ns) /
               (since_ns + until_ns) +
           bound->between * fmin(since_ns, until_ns);
}

size_t bc_clock_model_consistent(const struct bc_exchange *exchanges, size_t count, size_t min)
{
    for (; count > min; count--, exchanges++) {
        const struct frame frame = frame_of(exchanges, count);
        const double drift = best_drift(&frame);
        const struct lines lines = lines_of(&frame, 0, count, drift);
        const double min_ns = min_round_trip(&frame, drift);
        if (round_trip_of(&lines) >= min_ns - tolerance_of(min_ns))
            break;
    }
    return count;
}

static bool any_arrived_early(const struct bc_hull *hull)
{
    for (int64_t i = 0; i < hull->count; i++)
        if (delay_of(&hull->timestamps[i]) < 0)
            return true;
    return false;
}

bool bc_may_be_one_clock(const struct bc_exchange *exchanges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (any_arrived_early(&exchanges[i].there) || any_arrived_early(&exchanges[i].back))
            return false;
    return true;
}

int64_t bc_clock_model_reference(const struct bc_clock_model *model, int64_t other_ns)
{
    return other_ns - model->ahead_ns - llround(beyond(model, other_ns));
}

int64_t bc_clock_model_other(const struct bc_clock_model *model, int64_t reference_ns)
{
    const int64_t since_ns = reference_ns + model->ahead_ns - model->at_ns;
    return model->at_ns + llround(((double)since_ns + model->more_ns) / (1.0 - model->drift));
}

struct bc_clock_model bc_clock_model_chain(const struct bc_clock_model *far,
                                           const struct bc_clock_model *near)
{
    const int64_t between_ns = bc_clock_model_reference(near, near->at_ns);
    return (struct bc_clock_model){
        .at_ns = near->at_ns,
        .ahead_ns = near->ahead_ns + far->ahead_ns,
        .more_ns = near->more_ns + beyond(far, between_ns),
        .drift = near->drift + far->drift * (1.0 - near->drift),
    };
}
