#include "noise/periods.h"

#include "common/mpi/mpi_check.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Stops that are looked at together are at least 2^k ns long and shorter than 2^(k + 2) ns, for all
   k down to 0. */
enum { OCTAVES = 40, OCTAVES_TOGETHER = 2 };

/* A search looks at the first stops only: its time grows with the square of their number. */
enum { SEARCHED_MAX = 2048, STOPS_MIN = 6 };

/* Harmonics that are looked at; frequencies in the width 1 / span of a peak. */
enum { HARMONICS = 4, STEPS_A_PEAK = 8 };

/* Of a source: at least so many periods were watched, and most of them have a stop within this
   part of a period on either side of when it is due. */
#define PERIODS_MIN 5
#define COVERED_MIN 0.7
#define BESIDE 0.05

/* Stops just before and after, beyond what comes at other times, against those when one is due. */
#define BLUR_MAX 0.5

/* Peaks that are looked at more closely. */
enum { PEAKS_MAX = 16 };

#define TURN (2.0 * 3.14159265358979323846)

/* A stop; times are seconds since the first was watched. */
struct event {
    double time_s;
    size_t stop; /* index */
};

/* Stops of about one length, and when they could have come. */
struct train {
    struct event *events; /* ascending */
    size_t count;
    const struct noise_stops *stops;
};

static double seconds_at(const struct noise_stops *stops, int64_t ns)
{
    return (double)(ns - stops->visits[0].begin_ns) * 1e-9;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The part of a train that is searched. */
struct search {
    const struct train *train;
    size_t count;
    double end_s;     /* when its last event was, or the last visit ended */
    double watched_s; /* until then */
};

/* What was watched of a visit until the search's end; false if nothing. */
static bool watched_of(const struct search *search, int visit, double *begin_s, double *end_s)
{
    const struct noise_stops *const stops = search->train->stops;
    *begin_s = seconds_at(stops, stops->visits[visit].begin_ns);
    *end_s = fmin(seconds_at(stops, stops->visits[visit].end_ns), search->end_s);
    return stops->visits[visit].quanta > 0 && *begin_s < *end_s;
}

static struct search begin_search(const struct train *train)
{
    const struct noise_stops *const stops = train->stops;
    struct search search = {.train = train, .count = train->count};
    double begin_s, end_s;
    search.end_s = seconds_at(stops, stops->visits[stops->visit_count - 1].end_ns);
    if (search.count > SEARCHED_MAX) {
        search.count = SEARCHED_MAX;
        search.end_s = train->events[SEARCHED_MAX - 1].time_s;
    }
    for (int i = 0; i < stops->visit_count; i++)
        if (watched_of(&search, i, &begin_s, &end_s))
            search.watched_s += end_s - begin_s;
    return search;
}

/* The mean of e^(2 pi i f t) over the time that was watched: what events at random would show. */
static double complex window_at(const struct search *search, double frequency)
{
    double complex sum = 0.0;
    double begin_s, end_s;
    for (int i = 0; i < search->train->stops->visit_count; i++)
        if (watched_of(search, i, &begin_s, &end_s))
            sum += cexp(I * TURN * frequency * end_s) - cexp(I * TURN * frequency * begin_s);
    return sum / (I * TURN * frequency * search->watched_s);
}

/* The H statistic of harmonics' sums over the events. */
static double h_of_sums(const struct search *search, double frequency,
                        const double complex sums[HARMONICS])
{
    const double n = (double)search->count;
    double z = 0.0, h = 0.0;
    for (int m = 1; m <= HARMONICS; m++) {
        const double complex window = window_at(search, m * frequency);
        const double by_window = cabs(window) * cabs(window);
        const double excess = cabs(sums[m - 1] - n * window);
        z += 2.0 * excess * excess / (n * fmax(1e-3, 1.0 - by_window));
        h = fmax(h, z - 4.0 * m + 4.0);
    }
    return h;
}

static double h_at(const struct search *search, double frequency)
{
    double complex sums[HARMONICS] = {0};
    for (size_t i = 0; i < search->count; i++) {
        const double complex one = cexp(I * TURN * frequency * search->train->events[i].time_s);
        double complex power = 1.0;
        for (int m = 0; m < HARMONICS; m++)
            sums[m] += power *= one;
    }
    return h_of_sums(search, frequency, sums);
}

/* Each event as a unit vector at the frequency in hand, and what turns it to the next one. */
struct vectors {
    double re[SEARCHED_MAX], im[SEARCHED_MAX];
    double turn_re[SEARCHED_MAX], turn_im[SEARCHED_MAX];
};

/* Adds up the vectors' powers, and turns the vectors. */
static void add_and_turn(struct vectors *v, size_t count, double complex sums[HARMONICS])
{
    double re1 = 0.0, im1 = 0.0, re2 = 0.0, im2 = 0.0;
    double re3 = 0.0, im3 = 0.0, re4 = 0.0, im4 = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double re = v->re[i], im = v->im[i];
        const double square_re = re * re - im * im, square_im = 2.0 * re * im;
        re1 += re;
        im1 += im;
        re2 += square_re;
        im2 += square_im;
        re3 += square_re * re - square_im * im;
        im3 += square_re * im + square_im * re;
        re4 += square_re * square_re - square_im * square_im;
        im4 += 2.0 * square_re * square_im;
        v->re[i] = re * v->turn_re[i] - im * v->turn_im[i];
        v->im[i] = re * v->turn_im[i] + im * v->turn_re[i];
    }
    sums[0] = re1 + I * im1;
    sums[1] = re2 + I * im2;
    sums[2] = re3 + I * im3;
    sums[3] = re4 + I * im4;
}
_Static_assert(HARMONICS == 4, "add_and_turn has one sum for each");

struct peak {
    double frequency, h;
};

/* Keeps the highest peaks, descending. */
static void keep_peak(struct peak peaks[PEAKS_MAX], int *count, struct peak peak)
{
    if (*count == PEAKS_MAX && peak.h <= peaks[PEAKS_MAX - 1].h)
        return;
    int place = *count < PEAKS_MAX ? (*count)++ : PEAKS_MAX - 1;
    for (; place > 0 && peaks[place - 1].h < peak.h; place--)
        peaks[place] = peaks[place - 1];
    peaks[place] = peak;
}

/* Lists the peaks that stops at random exceed with a chance of less than alpha. */
static int find_peaks(const struct search *search, double alpha, struct peak peaks[PEAKS_MAX])
{
    const double step = 1.0 / (STEPS_A_PEAK * search->end_s);
    const double first = PERIODS_MIN / search->end_s;
    /* A source has at most all events. */
    const double last = 1.2 * (double)search->count / search->watched_s;
    const int64_t steps = last > first ? (int64_t)((last - first) / step) + 1 : 0;
    const double h_min = log((double)(steps + 1) / alpha) / 0.4;
    struct vectors *const vectors = bc_allocate(1, sizeof *vectors, "no memory for periods");
    struct peak before = {first, 0.0}, last_peak = {first, 0.0};
    int count = 0;
    for (size_t i = 0; i < search->count; i++) {
        const double time_s = search->train->events[i].time_s;
        vectors->re[i] = cos(TURN * first * time_s);
        vectors->im[i] = sin(TURN * first * time_s);
        vectors->turn_re[i] = cos(TURN * step * time_s);
        vectors->turn_im[i] = sin(TURN * step * time_s);
    }
    for (int64_t i = 0; i < steps; i++) {
        double complex sums[HARMONICS];
        add_and_turn(vectors, search->count, sums);
        const double frequency = first + (double)i * step;
        const struct peak here = {frequency, h_of_sums(search, frequency, sums)};
        if (last_peak.h > h_min && last_peak.h >= before.h && last_peak.h > here.h)
            keep_peak(peaks, &count, last_peak);
        before = last_peak;
        last_peak = here;
    }
    if (last_peak.h > h_min && last_peak.h >= before.h)
        keep_peak(peaks, &count, last_peak);
    free(vectors);
    return count;
}

/* The frequency near a peak of the search at which it is highest. */
static double refine(const struct search *search, double frequency)
{
    enum { FINER = 16 };
    const double step = 1.0 / (STEPS_A_PEAK * search->end_s) / FINER;
    struct peak best = {frequency, 0.0};
    for (int i = -FINER; i <= FINER; i++) {
        const struct peak tried = {frequency + i * step, h_at(search, frequency + i * step)};
        if (tried.h > best.h)
            best = tried;
    }
    return best.frequency;
}

/* ---- whether it is a clock ------------------------------------------------------------------- */

/* Stops that are due at origin_s + k * period_s. */
struct clock {
    double period_s, origin_s;
};

/* The number of the period in which a time is, and by how many periods it is off. */
static double period_of(const struct clock *clock, double time_s, double *off)
{
    const double periods = (time_s - clock->origin_s) / clock->period_s;
    *off = periods - round(periods);
    return round(periods);
}

/* How many times a stop was due while the rank was watched, until end_s. */
static int64_t times_due(const struct train *train, const struct clock *clock, double end_s)
{
    const struct search search = {.train = train, .end_s = end_s};
    double begin_s, visit_end_s;
    int64_t due = 0;
    for (int i = 0; i < train->stops->visit_count; i++)
        if (watched_of(&search, i, &begin_s, &visit_end_s))
            due += (int64_t)(floor((visit_end_s - clock->origin_s) / clock->period_s) -
                             floor((begin_s - clock->origin_s) / clock->period_s));
    return due;
}

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* When stops are due at this period: where most events are within twice BESIDE of a period. */
static double find_origin(const struct search *search, double period_s)
{
    const size_t n = search->count;
    double *const phases = bc_allocate(2 * n, sizeof *phases, "no memory for periods");
    size_t begin = 0, best = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const double periods = search->train->events[i].time_s / period_s;
        phases[i] = periods - floor(periods);
    }
    qsort(phases, n, sizeof *phases, ascending);
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

/* How many periods have a stop when one is due, among the first events. */
static int64_t times_covered(const struct search *search, const struct clock *clock)
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

static bool is_clock(const struct search *search, const struct clock *clock)
{
    const double due = (double)times_due(search->train, clock, search->end_s);
    double off, on = 0.0, near = 0.0, far = 0.0;
    for (size_t i = 0; i < search->count; i++) {
        (void)period_of(clock, search->train->events[i].time_s, &off);
        *(fabs(off) <= BESIDE ? &on : fabs(off) <= 3.0 * BESIDE ? &near : &far) += 1.0;
    }
    /* What comes at other times, in as much time as `on`, and as `near`. */
    const double other_on = far * 2.0 * BESIDE / (1.0 - 6.0 * BESIDE);
    const double other_near = 2.0 * other_on;
    return due >= PERIODS_MIN && (double)times_covered(search, clock) >= COVERED_MIN * due &&
           on - other_on >= COVERED_MIN * due && near - other_near <= BLUR_MAX * (on - other_on);
}

/* ---- its stops ------------------------------------------------------------------------------- */

/* The stops of a clock, one a period: that which is nearest to when it is due. */
struct members {
    size_t *event;
    double *number; /* of its period */
    size_t count;
};

static void list_members(const struct train *train, const struct clock *clock, double end_s,
                         struct members *members)
{
    double last_off = 0.0, off;
    members->count = 0;
    for (size_t i = 0; i < train->count && train->events[i].time_s <= end_s; i++) {
        const double number = period_of(clock, train->events[i].time_s, &off);
        const bool again = members->count > 0 && members->number[members->count - 1] == number;
        if (fabs(off) > BESIDE || (again && fabs(off) >= fabs(last_off)))
            continue;
        members->count += !again;
        members->event[members->count - 1] = i;
        members->number[members->count - 1] = number;
        last_off = off;
    }
}

/* The line through the members' times over their numbers, by least squares. */
static struct clock fit(const struct train *train, const struct members *members)
{
    const double n = (double)members->count;
    double mean_number = 0.0, mean_s = 0.0, squares = 0.0, products = 0.0;
    for (size_t i = 0; i < members->count; i++) {
        mean_number += members->number[i] / n;
        mean_s += train->events[members->event[i]].time_s / n;
    }
    for (size_t i = 0; i < members->count; i++) {
        const double number = members->number[i] - mean_number;
        squares += number * number;
        products += number * (train->events[members->event[i]].time_s - mean_s);
    }
    const double period_s = products / squares;
    return (struct clock){period_s, mean_s - period_s * mean_number};
}

/* The interval of the period: Student's, of the periods in eight parts of the time. Stops that
   count from when the last one ended drift, so that their deviations from a line are no errors
   which are independent of each other; those of parts are. */
static struct bc_interval period_interval(const struct train *train, const struct members *members,
                                          double period_s)
{
    enum { PARTS = 8 };
    double parts_s[PARTS];
    const size_t gaps = members->count - 1, parts = gaps < PARTS ? gaps : PARTS;
    for (size_t i = 0; i < parts; i++) {
        const size_t from = i * gaps / parts, to = (i + 1) * gaps / parts;
        parts_s[i] = (train->events[members->event[to]].time_s -
                      train->events[members->event[from]].time_s) /
                     (members->number[to] - members->number[from]);
    }
    const struct bc_interval mean_s = bc_mean_interval(parts_s, parts, 0.95);
    const double half_s = (mean_s.hi - mean_s.lo) / 2.0;
    return (struct bc_interval){(period_s - half_s) * 1e9, (period_s + half_s) * 1e9};
}

/* Finds the stops of a clock in all the time, starting with the part that was searched: the period
   is known the better the more of them are used, so that each step can go twice as far. False if
   most are missing. */
static bool follow_clock(const struct search *search, struct clock *clock, struct members *members)
{
    const struct train *const train = search->train;
    const struct noise_stops *const stops = train->stops;
    const double all_s = seconds_at(stops, stops->visits[stops->visit_count - 1].end_ns);
    double end_s = search->end_s;
    for (;;) {
        list_members(train, clock, end_s, members);
        if ((double)members->count < COVERED_MIN * (double)times_due(train, clock, end_s) ||
            members->count < PERIODS_MIN)
            return false;
        *clock = fit(train, members);
        if (end_s >= all_s)
            break;
        end_s = fmin(2.0 * end_s, all_s);
    }
    list_members(train, clock, all_s, members);
    return members->count >= PERIODS_MIN;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Finds the clearest clock in a train. */
static bool find_clock(const struct train *train, double alpha, struct clock *clock,
                       struct members *members)
{
    const struct search search = begin_search(train);
    struct peak peaks[PEAKS_MAX];
    if (search.count < STOPS_MIN || !(search.watched_s > 0.0))
        return false;
    const int count = find_peaks(&search, alpha, peaks);
    for (int i = 0; i < count; i++) {
        clock->period_s = 1.0 / refine(&search, peaks[i].frequency);
        clock->origin_s = find_origin(&search, clock->period_s);
        if (is_clock(&search, clock) && follow_clock(&search, clock, members))
            return true;
    }
    return false;
}

/* The stops of about one length that have no period yet. */
static void fill_train(struct train *train, int octave, const signed char *source)
{
    const struct noise_stops *const stops = train->stops;
    const double min_ns = ldexp(1.0, octave), max_ns = ldexp(1.0, octave + OCTAVES_TOGETHER);
    train->count = 0;
    for (size_t i = 0; i < stops->count; i++) {
        const struct noise_stop *const stop = &stops->stop[i];
        if (source[i] == NOISE_NO_PERIOD && (double)stop->length_ns >= min_ns &&
            (double)stop->length_ns < max_ns)
            train->events[train->count++] = (struct event){seconds_at(stops, stop->begin_ns), i};
    }
}

int noise_periods_find(const struct noise_stops *stops, double alpha,
                       struct noise_period found[NOISE_PERIODS_MAX], signed char *source)
{
    struct train train = {.stops = stops};
    struct members members = {0};
    int periods = 0;
    memset(source, NOISE_NO_PERIOD, stops->count);
    train.events = bc_allocate(stops->count, sizeof *train.events, "no memory for periods");
    members.event = bc_allocate(stops->count, sizeof *members.event, "no memory for periods");
    members.number = bc_allocate(stops->count, sizeof *members.number, "no memory for periods");
    for (int octave = OCTAVES - 1; octave >= 0 && periods < NOISE_PERIODS_MAX;) {
        struct clock clock;
        fill_train(&train, octave, source);
        if (!find_clock(&train, alpha / OCTAVES, &clock, &members)) {
            octave--;
            continue;
        }
        for (size_t i = 0; i < members.count; i++)
            source[train.events[members.event[i]].stop] = (signed char)periods;
        found[periods++] = (struct noise_period){clock.period_s * 1e9,
                                                 period_interval(&train, &members, clock.period_s)};
    }
    free(members.number);
    free(members.event);
    free(train.events);
    return periods;
}
