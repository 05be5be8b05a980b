/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Periodic stops of a rank, such as timer ticks and daemons that run once per second.
 *
 * Stops of about the same length (within a factor of 4; rare ones also within 1.4) are searched
 * together, the longest first. At each frequency the H test compares their phases with those of
 * random stops (spectrum.h). Since stops may come in bursts, or more often at some times, a peak
 * must also look like a clock: most periods have a stop within a tenth of the period when it is
 * due, and there are hardly more stops just before and after than at other times.
 *
 * Sources: de Jager, Swanepoel and Raubenheimer, "A Powerful Test for Weak Periodic Signals with
 * Unknown Light Curve Shape in Sparse Data", Astronomy and Astrophysics 221 (1989); its chance of
 * being exceeded, exp(-0.4 H): de Jager and Büsching, the same 517 (2010).
 */
#include "common/memory/allocate.h"
#include "noise/sources.h"
#include "noise/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stops of up to 2^OCTAVES ns are searched, those of two octaves of length together, and rare ones
   also by half an octave. */
enum { OCTAVES = 40, OCTAVES_TOGETHER = 2, NARROW_AN_OCTAVE = 4 };

/* A search uses only the first stops, since its time grows with the square of their number. The
   first search uses few, since a drifting clock keeps its phase only for a while, the second one
   more, since a clock's stops may be few among many. */
enum { SEARCHES = 2, SEARCHED_MAX = 1024, STOPS_MIN = 6 };
static const size_t searched[SEARCHES] = {256, SEARCHED_MAX};

/* At least COVERED_MIN of a clock's periods have a stop at most BESIDE of a period before or after
   it is due. */
#define COVERED_MIN 0.7
#define BESIDE 0.05

/* Max stops just before and after that time, beyond the rate at other times, as a share of the
   stops that are on time. */
#define BLUR_MAX 0.5

/* Min power of a clock's base frequency, as a share of the max over its harmonics: short stops have
   the same power at all harmonics. At a multiple of the true period some have no power. */
#define FIRST_MIN 0.3

/* Stops come in bursts if less than BURST_FREE of them (82 % of random stops) begin at least BURST
   of the mean distance after the previous one. A search then uses the first stop of each burst,
   since bursts aren't random. */
#define BURST_FREE 0.7
#define BURST 0.2

/* An early or late stop moves a clock by FOLLOWED of the difference. After LOST periods without a
   stop, as between two visits, it moves it by the whole difference, since the clock has drifted. */
#define FOLLOWED 0.25
#define LOST 3.0

/* ---- clocks ---------------------------------------------------------------------------------- */

/* A source whose stops are due at origin_s + k * period_s. */
struct clock {
    double period_s, origin_s;
};

/* Returns the number of the period whose stop is due nearest to a time. Sets `off` to the
   difference in periods. */
static double period_of(const struct clock *clock, double time_s, double *off)
{
    const double periods = (time_s - clock->origin_s) / clock->period_s;
    *off = periods - round(periods);
    return round(periods);
}

/* Returns the number of stops that were due while the rank was watched, until end_s. */
static int64_t times_due(const struct noise_train *train, const struct clock *clock, double end_s)
{
    const struct noise_search search = {.train = train, .end_s = end_s};
    double begin_s, visit_end_s;
    int64_t due = 0;
    for (int i = 0; i < train->stops->visit_count; i++)
        if (noise_watched_of(&search, i, &begin_s, &visit_end_s))
            due += (int64_t)(floor((visit_end_s - clock->origin_s) / clock->period_s) -
                             floor((begin_s - clock->origin_s) / clock->period_s));
    return due;
}

/* Returns a time at which a stop is due: the middle of the interval of phases, twice BESIDE long,
   that has most events. */
static double find_origin(const struct noise_search *search, double period_s)
{
    const size_t n = search->count;
    double *const phases = bc_allocate(2 * n, sizeof *phases, "no memory for periods");
    size_t begin = 0, best = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const double periods = search->train->events[i].time_s / period_s;
        phases[i] = periods - floor(periods);
    }
    bc_sort(phases, n);
    for (size_t i = 0; i < n; i++)
        phases[n + i] = phases[i] + 1.0;
    for (size_t end = 0; end < 2 * n; end++) {
        while (phases[end] - phases[begin] > 2.0 * BESIDE)
            begin++;
        if (end - begin + 1 > most && end - begin < n) {
            most = end - begin + 1;
            best = begin;
        }
    }
    const double middle = phases[best + (most - 1) / 2];
    free(phases);
    return middle * period_s;
}

/* Returns the number of periods that have a stop on time. */
static int64_t times_covered(const struct noise_search *search, const struct clock *clock)
{
    double last = -INFINITY, off;
    int64_t covered = 0;
    for (size_t i = 0; i < search->count; i++) {
        const double number = period_of(clock, search->train->events[i].time_s, &off);
        if (fabs(off) <= BESIDE && number > last) {
            covered++;
            last = number;
        }
    }
    return covered;
}

static bool is_clock(const struct noise_search *search, const struct clock *clock)
{
    const double due = (double)times_due(search->train, clock, search->end_s);
    double off, on = 0.0, near = 0.0, far = 0.0;
    for (size_t i = 0; i < search->count; i++) {
        (void)period_of(clock, search->train->events[i].time_s, &off);
        *(fabs(off) <= BESIDE ? &on : fabs(off) <= 3.0 * BESIDE ? &near : &far) += 1.0;
    }
    /* Stops expected in the time of `on` and of `near` at the rate of other times. */
    const double other_on = far * 2.0 * BESIDE / (1.0 - 6.0 * BESIDE);
    const double other_near = 2.0 * other_on;
    return due >= NOISE_PERIODS_WATCHED &&
           (double)times_covered(search, clock) >= COVERED_MIN * due &&
           on - other_on >= COVERED_MIN * due && near - other_near <= BLUR_MAX * (on - other_on);
}

/* Makes the clock of a peak. Returns false if there is none. The peak may be at a multiple of the
   period, so the shortest period that passes is taken. */
static bool make_clock(const struct noise_search *search, const struct noise_peak *peak,
                       double h_min, struct clock *clock)
{
    enum { PARTS_MAX = 4 };
    for (int parts = PARTS_MAX; parts >= 1; parts--) {
        const double frequency = parts * peak->frequency;
        const struct noise_powers powers = noise_powers_at(search, frequency);
        double max = 0.0;
        for (int m = 0; m < NOISE_HARMONICS; m++)
            max = fmax(max, powers.of[m]);
        clock->period_s = 1.0 / frequency;
        clock->origin_s = find_origin(search, clock->period_s);
        if (noise_h_of(&powers, peak->level) > h_min && powers.of[0] >= FIRST_MIN * max &&
            is_clock(search, clock))
            return true;
    }
    return false;
}

/* ---- stops of a clock ------------------------------------------------------------------------ */

/* A stop of a clock: in its period, the nearest one to the time when it is due. */
struct member {
    double number; /* of the period */
    struct noise_event event;
};
struct members {
    struct member *at;
    size_t count;
};

/* Lists a clock's stops until end_s. Each stop moves the time when the next one is due (FOLLOWED),
   so that a clock may drift. */
static void list_members(const struct noise_train *train, const struct clock *clock, double end_s,
                         struct members *members)
{
    struct clock now = *clock;
    double last_off = 0.0, off;
    members->count = 0;
    for (size_t i = 0; i < train->count && train->events[i].time_s <= end_s; i++) {
        const double number = period_of(&now, train->events[i].time_s, &off);
        const double since =
            members->count > 0 ? number - members->at[members->count - 1].number : 1.0;
        const bool again = since <= 0.0, lost = since > LOST;
        if (fabs(off) > (lost ? 3.0 * BESIDE : BESIDE) || (again && fabs(off) >= fabs(last_off)))
            continue;
        members->count += !again;
        members->at[members->count - 1] = (struct member){number, train->events[i]};
        now.origin_s += (lost ? 1.0 : FOLLOWED) * (again ? off - last_off : off) * now.period_s;
        last_off = off;
    }
}

/* Returns the period: the slope of a least-squares line through the times over the numbers. */
static double fit_period(const struct members *members)
{
    const double n = (double)members->count;
    double mean_number = 0.0, mean_s = 0.0, squares = 0.0, products = 0.0;
    for (size_t i = 0; i < members->count; i++) {
        mean_number += members->at[i].number / n;
        mean_s += members->at[i].event.time_s / n;
    }
    for (size_t i = 0; i < members->count; i++) {
        const double number = members->at[i].number - mean_number;
        squares += number * number;
        products += number * (members->at[i].event.time_s - mean_s);
    }
    return products / squares;
}

/* Returns Student's interval of the period, from the periods in eight parts of the time. If a
   daemon counts from its last stop, deviations from a line are correlated, parts aren't. */
static struct bc_interval period_interval(const struct members *members, double period_s,
                                          double confidence)
{
    enum { PARTS = 8 };
    double parts_s[PARTS];
    const size_t gaps = members->count - 1, parts = gaps < PARTS ? gaps : PARTS;
    for (size_t i = 0; i < parts; i++) {
        const struct member *const from = &members->at[i * gaps / parts];
        const struct member *const to = &members->at[(i + 1) * gaps / parts];
        parts_s[i] = (to->event.time_s - from->event.time_s) / (to->number - from->number);
    }
    const struct bc_interval mean_s = bc_mean_interval(parts_s, parts, confidence);
    const double half_s = (mean_s.hi - mean_s.lo) / 2.0;
    return (struct bc_interval){(period_s - half_s) * 1e9, (period_s + half_s) * 1e9};
}

/* Finds all stops of a clock, starting with the part that was searched. More stops make the period
   more accurate, so each iteration goes twice as far. Returns false if too many are missing. */
static bool follow_clock(const struct noise_search *search, struct clock *clock,
                         struct members *members)
{
    const struct noise_train *const train = search->train;
    const struct noise_stops *const stops = train->stops;
    const double all_s = noise_seconds_at(stops, stops->visits[noise_last_watched(stops)].end_ns);
    double end_s = search->end_s, done_s;
    do {
        done_s = fmin(end_s, all_s);
        list_members(train, clock, done_s, members);
        if (members->count < NOISE_PERIODS_WATCHED ||
            (double)members->count < COVERED_MIN * (double)times_due(train, clock, done_s))
            return false;
        *clock = (struct clock){fit_period(members), members->at[0].event.time_s};
        end_s *= 2.0;
    } while (done_s < all_s);
    return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Returns the first stop of each burst in `events`, or all stops if there are few bursts. */
static struct noise_train without_bursts(const struct noise_train *train,
                                         struct noise_event *events)
{
    const struct noise_search all = noise_search_begin(train, train->count);
    const double apart_s = BURST * all.watched_s / (double)train->count;
    struct noise_train made = {.events = events, .stops = train->stops};
    for (size_t i = 0; i < train->count; i++)
        if (i == 0 || train->events[i].time_s >= events[made.count - 1].time_s + apart_s)
            events[made.count++] = train->events[i];
    return (double)made.count < BURST_FREE * (double)train->count ? made : *train;
}

/* Finds the clock with the highest peak in a train. Peaks are found without bursts. */
static bool find_clock(const struct noise_train *train, struct noise_event *room, double alpha,
                       struct clock *clock, struct members *members)
{
    const struct noise_train thinned = without_bursts(train, room);
    for (int k = 0; k < SEARCHES && (k == 0 || train->count > searched[k - 1]); k++) {
        const struct noise_search search = noise_search_begin(train, searched[k]);
        const struct noise_search looked_at = noise_search_begin(&thinned, searched[k]);
        struct noise_peak peaks[NOISE_PEAKS_MAX];
        double h_min;
        if (looked_at.count < STOPS_MIN || !(looked_at.watched_s > 0.0))
            return false;
        const int count = noise_find_peaks(&looked_at, alpha / SEARCHES, peaks, &h_min);
        for (int i = 0; i < count; i++) {
            noise_refine_peak(&looked_at, &peaks[i]);
            if (make_clock(&search, &peaks[i], h_min, clock) &&
                follow_clock(&search, clock, members))
                return true;
        }
    }
    return false;
}

/* Lengths that are searched together, and the factor to the next shorter range. */
struct range {
    double min_ns, max_ns, step;
};

/* Returns a range, the longest first: for each octave a range of two octaves, then NARROW_AN_OCTAVE
   narrow ranges, since stops of one length may be rare among others. */
static struct range range_of(int number)
{
    const int octave = OCTAVES - 1 - number / (1 + NARROW_AN_OCTAVE);
    const int narrow = number % (1 + NARROW_AN_OCTAVE);
    if (narrow == 0)
        return (struct range){ldexp(1.0, octave), ldexp(1.0, octave + OCTAVES_TOGETHER), 2.0};
    const double step = exp2(1.0 / NARROW_AN_OCTAVE);
    const double min_ns = exp2(octave + 1.0 - (double)narrow / NARROW_AN_OCTAVE);
    return (struct range){min_ns, min_ns * step * step, step};
}

/* Fills in the stops of a range that have no period yet. Returns false if there is nothing to
   search: all are in the previous range, or there are too many in a narrow range. */
static bool fill_train(struct noise_train *train, const struct range *range,
                       const signed char *source)
{
    const struct noise_stops *const stops = train->stops;
    bool has_shorter = false;
    train->count = 0;
    for (size_t i = 0; i < stops->count; i++) {
        const double length_ns = (double)stops->stop[i].length_ns;
        if (source[i] != NOISE_NO_PERIOD || length_ns < range->min_ns || length_ns >= range->max_ns)
            continue;
        train->events[train->count++] =
            (struct noise_event){noise_seconds_at(stops, stops->stop[i].begin_ns), i};
        has_shorter = has_shorter || length_ns < range->step * range->min_ns;
    }
    return has_shorter && (range->step >= 2.0 || train->count <= searched[0]);
}

/* Periods are the same if they differ by less than this share, or by less than their intervals. */
#define SAME_PERIOD 0.002

bool noise_is_same_period(const struct noise_period *a, const struct noise_period *b)
{
    const double known_ns =
        (a->interval_ns.hi - a->interval_ns.lo + b->interval_ns.hi - b->interval_ns.lo) / 2.0;
    const double apart_ns = fabs(a->period_ns - b->period_ns);
    return apart_ns <= SAME_PERIOD * b->period_ns ||
           (apart_ns <= known_ns && apart_ns <= 0.1 * b->period_ns);
}

static double mean_length_ns(const struct noise_stops *stops, const signed char *source, int number)
{
    double sum_ns = 0.0, members = 0.0;
    for (size_t i = 0; i < stops->count; i++)
        if (source[i] == number) {
            sum_ns += (double)stops->stop[i].length_ns;
            members += 1.0;
        }
    return sum_ns / members;
}

/* Merges clocks of the same period whose stops differ in length by less than an octave, as in a
   row's key: a daemon may cause several stops each time. Returns the number of periods left. */
static int join_periods(const struct noise_stops *stops, struct noise_period *found, int count,
                        signed char *source)
{
    int left = 0;
    for (int i = 0; i < count; i++) {
        const double length_ns = mean_length_ns(stops, source, i);
        int other = 0;
        while (other < left &&
               !(noise_is_same_period(&found[other], &found[i]) &&
                 fabs(log2(mean_length_ns(stops, source, other) / length_ns)) < 1.0))
            other++;
        for (size_t k = 0; other != i && k < stops->count; k++)
            if (source[k] == i)
                source[k] = (signed char)other;
        if (other == left)
            found[left++] = found[i];
    }
    return left;
}

int noise_periods_find(const struct noise_stops *stops, double alpha, double confidence,
                       struct noise_period found[NOISE_PERIODS_MAX], signed char *source)
{
    enum { SETS = OCTAVES * (1 + NARROW_AN_OCTAVE) };
    struct noise_train train = {.stops = stops};
    struct members members = {0};
    int periods = 0;
    memset(source, NOISE_NO_PERIOD, stops->count);
    train.events = bc_allocate(2 * stops->count, sizeof *train.events, "no memory for periods");
    members.at = bc_allocate(stops->count, sizeof *members.at, "no memory for periods");
    for (int set = 0; set < SETS && periods < NOISE_PERIODS_MAX;) {
        const struct range range = range_of(set);
        struct clock clock;
        if (!fill_train(&train, &range, source) ||
            !find_clock(&train, train.events + stops->count, alpha / SETS, &clock, &members)) {
            set++;
            continue;
        }
        for (size_t i = 0; i < members.count; i++)
            source[members.at[i].event.stop] = (signed char)periods;
        found[periods++] = (struct noise_period){
            clock.period_s * 1e9, period_interval(&members, clock.period_s, confidence)};
    }
    free(members.at);
    free(train.events);
    return join_periods(stops, found, periods, source);
}
