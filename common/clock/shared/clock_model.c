#include "common/clock/shared/clock_model.h"

#include "common/stats/stats.h"

#include <math.h>
#include <string.h>

/* Exchanges that are closer than this tell nothing of a drift. */
#define CLOSE_NS 50e6

/* Halvings of the range of drifts: to a millionth of a nanosecond a second. */
enum { HALVINGS = 50 };

/* Exchanges whose own room is within this of the least are about as good as the best
   one; and edges that lie within it are still those of one line. */
#define ROOM_SHARE 0.25
#define ROOM_NS 50.0

/* ---- edges ----------------------------------------------------------------------------------- */

static int64_t delay_of(const struct bc_passage *passage)
{
    return passage->arrived_ns - passage->sent_ns;
}

/* By how much the delay grows in a nanosecond from one to a later one. */
static double slope_between(const struct bc_passage *first, const struct bc_passage *second)
{
    const int64_t rise_ns = delay_of(second) - delay_of(first);
    const int64_t run_ns = second->sent_ns - first->sent_ns;
    return (double)rise_ns / (double)run_ns;
}

/* The corners of the lower convex hull, in front of `passages` (Andrew's monotone
   chain). Returns their number. */
static size_t find_corners(struct bc_passage *passages, size_t count)
{
    size_t corners = 0;
    for (size_t i = 0; i < count; i++) {
        const struct bc_passage next = passages[i];
        /* Of those at one time, on a clock that stands still, the quickest. */
        if (corners > 0 && passages[corners - 1].sent_ns >= next.sent_ns) {
            if (delay_of(&passages[corners - 1]) <= delay_of(&next))
                continue;
            corners--;
        }
        while (corners >= 2 && slope_between(&passages[corners - 2], &passages[corners - 1]) >=
                                   slope_between(&passages[corners - 1], &next))
            corners--;
        passages[corners++] = next;
    }
    return corners;
}

void bc_edge_find(struct bc_passage *passages, size_t count, struct bc_edge *edge)
{
    size_t first = 0, end = find_corners(passages, count), least = 0;
    for (size_t i = 1; i < end; i++)
        if (delay_of(&passages[i]) < delay_of(&passages[least]))
            least = i;
    while (first < least && slope_between(&passages[first], &passages[first + 1]) < -BC_DRIFT_MAX)
        first++;
    while (end > least + 1 && slope_between(&passages[end - 2], &passages[end - 1]) > BC_DRIFT_MAX)
        end--;
    while (end - first > BC_EDGE_MAX)
        if (least - first > end - 1 - least)
            first++;
        else
            end--;
    edge->count = (int64_t)(end - first);
    memcpy(edge->passages, passages + first, (end - first) * sizeof *passages);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Exchanges as numbers that are small enough for exact differences: times from
   at_ns on, and of what the other clock is ahead what it is more than ahead_ns. */
struct frame {
    const struct bc_exchange *exchanges;
    size_t count;
    int64_t at_ns, ahead_ns;
};

/* A line of some slope that rests on a lower edge. */
struct support {
    double height_ns; /* at at_ns */
    double time_ns;   /* where it rests */
};

static struct frame frame_of(const struct bc_exchange *exchanges, size_t count)
{
    const struct bc_passage *const newest = &exchanges[count - 1].there.passages[0];
    return (struct frame){exchanges, count, newest->arrived_ns, delay_of(newest)};
}

static void rest(struct support *support, double time_ns, double height_ns)
{
    if (height_ns < support->height_ns)
        *support = (struct support){height_ns, time_ns};
}

/* Lowers both supports to an exchange, for a drift of the other clock. */
static void rest_on(const struct frame *frame, const struct bc_exchange *exchange, double drift,
                    struct support *there, struct support *back)
{
    for (int64_t i = 0; i < exchange->there.count; i++) {
        const struct bc_passage *const p = &exchange->there.passages[i];
        const double time_ns = (double)(p->arrived_ns - frame->at_ns);
        rest(there, time_ns, (double)(delay_of(p) - frame->ahead_ns) - drift * time_ns);
    }
    for (int64_t i = 0; i < exchange->back.count; i++) {
        const struct bc_passage *const p = &exchange->back.passages[i];
        const double time_ns = (double)(p->sent_ns - frame->at_ns);
        rest(back, time_ns, (double)(delay_of(p) + frame->ahead_ns) + drift * time_ns);
    }
}

struct supports {
    struct support there, back;
};

static struct supports supports_of(const struct frame *frame, double drift)
{
    struct supports s = {{INFINITY, 0.0}, {INFINITY, 0.0}};
    for (size_t i = 0; i < frame->count; i++)
        rest_on(frame, &frame->exchanges[i], drift, &s.there, &s.back);
    return s;
}

static double room_of(const struct supports *supports)
{
    return supports->there.height_ns + supports->back.height_ns;
}

/* Up to which drift the room grows by more than `rate` a unit of drift. It is concave:
   a sum of least values of linear functions; how it grows is the difference of the
   times at which the supports rest. */
static double grows_up_to(const struct frame *frame, double rate)
{
    double lo = -BC_DRIFT_MAX, hi = BC_DRIFT_MAX;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (lo + hi) / 2.0;
        const struct supports s = supports_of(frame, middle);
        if (s.back.time_ns - s.there.time_ns > rate)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* The drift that leaves the most room: the middle of those that do, or nearly, where
   both supports rest on exchanges of about one time. */
static double best_drift(const struct frame *frame)
{
    return (grows_up_to(frame, CLOSE_NS) + grows_up_to(frame, -CLOSE_NS)) / 2.0;
}

/* An exchange by itself: its room, and the other clock's lead in its middle. */
struct lone_exchange {
    double room_ns, ahead_ns;
};

static struct lone_exchange look_at(const struct frame *frame, size_t i, double drift)
{
    struct supports s = {{INFINITY, 0.0}, {INFINITY, 0.0}};
    rest_on(frame, &frame->exchanges[i], drift, &s.there, &s.back);
    return (struct lone_exchange){room_of(&s), (s.there.height_ns - s.back.height_ns) / 2.0};
}

static double least_room(const struct frame *frame, double drift)
{
    double least_ns = INFINITY;
    for (size_t i = 0; i < frame->count; i++)
        least_ns = fmin(least_ns, look_at(frame, i, drift).room_ns);
    return least_ns;
}

static double tolerated(double room_ns)
{
    return ROOM_SHARE * fmax(0.0, room_ns) + ROOM_NS;
}

/* The exchanges that are about as good as the best one. */
struct good_exchanges {
    double time_ns[BC_EXCHANGES_MAX], ahead_ns[BC_EXCHANGES_MAX];
    size_t count;
};

static void find_good(const struct frame *frame, double drift, struct good_exchanges *good)
{
    const double least_ns = least_room(frame, drift);
    good->count = 0;
    for (size_t i = 0; i < frame->count; i++) {
        const struct lone_exchange lone = look_at(frame, i, drift);
        if (lone.room_ns > least_ns + tolerated(least_ns))
            continue;
        const int64_t at_ns = frame->exchanges[i].there.passages[0].arrived_ns;
        good->time_ns[good->count] = (double)(at_ns - frame->at_ns);
        good->ahead_ns[good->count++] = lone.ahead_ns;
    }
}

/* What the drift is more than the one that they were looked at with: the median of the
   slopes of those that lie far apart; 0 if none do. */
static double more_drift(const struct good_exchanges *good)
{
    double slopes[BC_EXCHANGES_MAX * BC_EXCHANGES_MAX / 2];
    const double span_ns = good->time_ns[good->count - 1] - good->time_ns[0];
    size_t count = 0;
    for (size_t i = 0; i < good->count; i++)
        for (size_t j = i + 1; j < good->count; j++) {
            const double apart_ns = good->time_ns[j] - good->time_ns[i];
            if (apart_ns >= fmax(CLOSE_NS, span_ns / 2.0))
                slopes[count++] = (good->ahead_ns[j] - good->ahead_ns[i]) / apart_ns;
        }
    return count > 0 ? bc_median(slopes, count) : 0.0;
}

static double median_ahead(const struct good_exchanges *good)
{
    double ahead_ns[BC_EXCHANGES_MAX];
    memcpy(ahead_ns, good->ahead_ns, good->count * sizeof *ahead_ns);
    return bc_median(ahead_ns, good->count);
}

static double scatter_about(const struct good_exchanges *good, double ahead_ns)
{
    double most_ns = 0.0;
    for (size_t i = 0; i < good->count; i++)
        most_ns = fmax(most_ns, fabs(good->ahead_ns[i] - ahead_ns));
    return most_ns;
}

/* What the drift may be off by: to go by the scatter of good exchanges, or if they tell
   nothing of it, what leaves about as much room. */
static double drift_error(const struct frame *frame, const struct good_exchanges *good,
                          double scatter_ns)
{
    const double span_ns = good->time_ns[good->count - 1] - good->time_ns[0];
    if (span_ns > CLOSE_NS)
        return 2.0 * scatter_ns / span_ns;
    return (grows_up_to(frame, -CLOSE_NS) - grows_up_to(frame, CLOSE_NS)) / 2.0;
}

/* No exchange can be off by more than half of its own room. */
static double newest_bound(const struct frame *frame, double drift, double ahead_ns)
{
    double bound_ns = INFINITY;
    for (size_t i = frame->count; i-- > 0;) {
        const int64_t at_ns = frame->exchanges[i].there.passages[0].arrived_ns;
        if ((double)(frame->at_ns - at_ns) > CLOSE_NS)
            break;
        const struct lone_exchange lone = look_at(frame, i, drift);
        bound_ns = fmin(bound_ns, lone.room_ns / 2.0 + fabs(lone.ahead_ns - ahead_ns));
    }
    return fmax(0.0, bound_ns);
}

struct bc_clock_model bc_clock_model_fit(const struct bc_exchange *exchanges, size_t count,
                                         struct bc_line_quality *quality)
{
    const struct frame frame = frame_of(exchanges, count);
    struct good_exchanges good;
    double drift = best_drift(&frame);
    find_good(&frame, drift, &good);
    drift += more_drift(&good);
    find_good(&frame, drift, &good);
    const double ahead_ns = median_ahead(&good);
    const double scatter_ns = scatter_about(&good, ahead_ns);
    const struct supports s = supports_of(&frame, drift);
    quality->room_ns = room_of(&s);
    quality->growth = drift_error(&frame, &good, scatter_ns);
    quality->error_ns = scatter_ns - quality->growth * good.time_ns[good.count - 1];
    quality->bound_ns = newest_bound(&frame, drift, ahead_ns);
    return (struct bc_clock_model){frame.at_ns, frame.ahead_ns, ahead_ns, drift};
}

size_t bc_clock_model_straight(const struct bc_exchange *exchanges, size_t count, size_t least)
{
    for (; count > least; count--, exchanges++) {
        const struct frame frame = frame_of(exchanges, count);
        const double drift = best_drift(&frame);
        const struct supports s = supports_of(&frame, drift);
        const double least_ns = least_room(&frame, drift);
        if (room_of(&s) >= least_ns - tolerated(least_ns))
            break;
    }
    return count;
}

bool bc_may_be_one_clock(const struct bc_exchange *exchanges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < exchanges[i].there.count; j++)
            if (delay_of(&exchanges[i].there.passages[j]) < 0)
                return false;
        for (int64_t j = 0; j < exchanges[i].back.count; j++)
            if (delay_of(&exchanges[i].back.passages[j]) < 0)
                return false;
    }
    return true;
}

/* ---- reading them ---------------------------------------------------------------------------- */

/* What is to be added to ahead_ns. */
static double beyond(const struct bc_clock_model *line, int64_t other_ns)
{
    return line->more_ns + line->drift * (double)(other_ns - line->at_ns);
}

int64_t bc_clock_model_reference(const struct bc_clock_model *line, int64_t other_ns)
{
    return other_ns - line->ahead_ns - llround(beyond(line, other_ns));
}

int64_t bc_clock_model_other(const struct bc_clock_model *line, int64_t reference_ns)
{
    const int64_t since_ns = reference_ns + line->ahead_ns - line->at_ns;
    return line->at_ns + llround(((double)since_ns + line->more_ns) / (1.0 - line->drift));
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
