/* SPDX-License-Identifier: BSD-3-Clause */
/* The powers of made-up stops: those at random have 2 at each frequency, in spite of gaps in what
   was watched; a clock's stand out; and those of all frequencies at once are those of each. */
#include "common/stats/random.h"
#include "helpers.h"
#include "noise/spectrum.h"

#include <math.h>

enum { VISITS = 3, EVENTS_MAX = 4000 };
#define VISIT_S 1.5
static const double begins_s[VISITS] = {0.0, 2.1, 5.3};
#define ALL_S (5.3 + VISIT_S)

static struct noise_watch watches[VISITS];
static struct noise_stops stops = {.visits = watches, .visit_count = VISITS};
static struct noise_event events[EVENTS_MAX];
static struct noise_train train = {.events = events, .stops = &stops};

static bool is_watched(double time_s)
{
    for (int i = 0; i < VISITS; i++)
        if (time_s >= begins_s[i] && time_s < begins_s[i] + VISIT_S)
            return true;
    return false;
}

static void begin(void)
{
    train.count = 0;
    for (int i = 0; i < VISITS; i++)
        watches[i] = (struct noise_watch){.begin_ns = llround(begins_s[i] * 1e9),
                                          .end_ns = llround((begins_s[i] + VISIT_S) * 1e9),
                                          .quanta = 1};
}

static void add(double time_s)
{
    if (is_watched(time_s))
        events[train.count++] = (struct noise_event){.time_s = time_s};
}

static uint64_t chance = 7;

static double exponential(double mean)
{
    return -mean * log(((double)(bc_random_next(&chance) >> 11) + 0.5) * 0x1p-53);
}

static void at_random(double per_s)
{
    begin();
    for (double time_s = exponential(1.0 / per_s); time_s < ALL_S;
         time_s += exponential(1.0 / per_s))
        add(time_s);
}

TEST(stops_at_random_have_a_power_of_two)
{
    enum { FREQUENCIES = 400 };
    double mean = 0.0;
    for (int i = 0; i < FREQUENCIES; i++) {
        at_random(100.0);
        const struct noise_search search = noise_search_begin(&train, EVENTS_MAX);
        assert_true(fabs(search.watched_s / (VISITS * VISIT_S) - 1.0) < 1e-9);
        /* The gaps show in such low ones. */
        const struct noise_powers powers = noise_powers_at(&search, 0.1 + 0.01 * i);
        for (int m = 0; m < NOISE_HARMONICS; m++)
            mean += powers.of[m] / (FREQUENCIES * NOISE_HARMONICS);
    }
    assert_true(fabs(mean - 2.0) < 0.15); /* 4 standard deviations */
}

TEST(a_clock_stands_out)
{
    const double frequency = 24.37;
    struct noise_peak peaks[NOISE_PEAKS_MAX];
    double height;
    begin();
    for (int k = 0; k < (int)(ALL_S * frequency); k++) {
        add((k + 0.3) / frequency);
        add((k + 0.3) / frequency + 2e-4 + exponential(0.02)); /* and others */
    }
    const struct noise_search search = noise_search_begin(&train, EVENTS_MAX);
    const int count = noise_find_peaks(&search, 1e-4, peaks, &height);
    assert_true(count > 0);
    double nearest = INFINITY;
    for (int i = 0; i < count; i++) {
        /* All frequencies at once are looked at in cells of time. */
        const struct noise_powers powers = noise_powers_at(&search, peaks[i].frequency);
        assert_true(fabs(noise_h_of(&powers, peaks[i].level) / peaks[i].h - 1.0) < 0.1);
        assert_true(peaks[i].h > height);
        noise_refine_peak(&search, &peaks[i]);
        nearest = fmin(nearest, fabs(peaks[i].frequency / frequency - 1.0));
    }
    assert_true(nearest < 1e-3);
}
