/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts of linkmap on links that are made up: their groups, and suspects. Each rank is
 * a point, for POINTS ranks. The program's own links are in tests/virtual/linkmap_test.py.
 */
#include "ranks.h"

#include "linkmap/verdicts.h"

#include <stdio.h>

enum { POINTS = 9 };

/* Time of a faultless link, and its jitter. */
#define USUAL_NS 1000.0
#define JITTER_NS 5.0

static const struct linkmap_limits usual_limits = {
    .alpha = 0.01, .threshold = 0.2, .seconds = 20.0};

/* ---- links that are made up: linkmap/links.h ------------------------------------------------- */

/* The same on all ranks, from one point to another. */
static double together_ns[POINTS][POINTS], alone_ns[POINTS][POINTS];
static double last_alone; /* factor of the last of a link's times alone */
static int alone_calls[POINTS][POINTS];

static void make_links_alike(uint64_t seed, double jitter_ns)
{
    struct random random = random_from(seed);
    memset(alone_calls, 0, sizeof alone_calls);
    last_alone = 1.0;
    for (int from = 0; from < POINTS; from++)
        for (int to = 0; to < POINTS; to++) {
            together_ns[from][to] = USUAL_NS + jitter_ns * random_normal(&random);
            alone_ns[from][to] = USUAL_NS + jitter_ns * random_normal(&random);
        }
}

/* A round trip is the same from both ends: the time from the lower point to the other one. */
static double time_in(double table_ns[POINTS][POINTS], bool one_way, int from, int to)
{
    return one_way || from < to ? table_ns[from][to] : table_ns[to][from];
}

double linkmap_time(const struct linkmap_links *links, int way, int partner)
{
    if (partner == links->points->own)
        return NAN;
    return way == LINKMAP_OUT ? time_in(together_ns, links->one_way, links->points->own, partner)
                              : time_in(together_ns, links->one_way, partner, links->points->own);
}

void linkmap_time_link(const struct linkmap_links *links, int partner, bool leads,
                       double times_ns[LINKMAP_WAYS])
{
    const double factor =
        leads && ++alone_calls[links->points->own][partner] == 6 ? last_alone : 1.0;
    times_ns[LINKMAP_OUT] = factor * time_in(alone_ns, links->one_way, links->points->own, partner);
    times_ns[LINKMAP_IN] = factor * time_in(alone_ns, links->one_way, partner, links->points->own);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Of the last judge(). */
static struct {
    char text[256]; /* "2 slow 50 %, 1-3 even 0 %": each point and link that was suspected */
    int groups, suspects, calls;
    bool are_pairs_right; /* of linkmap_next_slow */
} found;

static void note(const char *who, enum linkmap_fault fault, double alone_pct)
{
    const char *const name = linkmap_fault_names[fault];
    const size_t used = strlen(found.text);
    if (fault == LINKMAP_EVEN && isnan(alone_pct))
        return;
    if (isnan(alone_pct))
        snprintf(found.text + used, sizeof found.text - used, "%s%s %s", used > 0 ? ", " : "", who,
                 name != NULL ? name : "unknown");
    else
        snprintf(found.text + used, sizeof found.text - used, "%s%s %s %.0f %%",
                 used > 0 ? ", " : "", who, name, 10.0 * round(alone_pct / 10.0) + 0.0);
}

static void judge(bool one_way, struct linkmap_limits limits)
{
    const struct linkmap_points points = {.comm = MPI_COMM_WORLD, .count = POINTS, .own = rank};
    const struct linkmap_links links = {
        .points = &points, .bytes = one_way ? 1 << 20 : 8, .one_way = one_way, .repetitions = 4};
    struct linkmap_verdicts verdicts;
    char who[16];
    double pct;
    linkmap_judge(&verdicts, &links, &limits);
    found.groups = verdicts.map.groups;
    found.suspects = verdicts.count;
    found.text[0] = '\0';
    for (int a = 0; a < POINTS; a++) {
        snprintf(who, sizeof who, "%d", a);
        const enum linkmap_fault fault = linkmap_fault_of(&verdicts, a, a, &pct);
        note(who, fault, pct);
    }
    int from = -1, to = POINTS;
    found.are_pairs_right = true;
    for (int a = 0; a < POINTS; a++)
        for (int b = a + 1; b < POINTS; b++) {
            snprintf(who, sizeof who, "%d-%d", a, b);
            const enum linkmap_fault fault = linkmap_fault_of(&verdicts, a, b, &pct);
            note(who, fault, pct);
            if (fault != LINKMAP_EVEN && fault != LINKMAP_UNKNOWN)
                found.are_pairs_right = linkmap_next_slow(&verdicts, &from, &to) && from == a &&
                                        to == b && found.are_pairs_right;
        }
    if (linkmap_next_slow(&verdicts, &from, &to))
        found.are_pairs_right = false;
    linkmap_verdicts_free(&verdicts);
    found.calls = 0;
    for (int i = 0; i < POINTS; i++)
        found.calls += alone_calls[rank][i];
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Points, where it isn't one. */
enum { ALL = -1, ODD = -2, EVEN = -3 };

static bool is_of(int point, int points)
{
    return points == point || points == ALL || (points == ODD && point % 2 == 1) ||
           (points == EVEN && point % 2 == 0);
}

/* By how many times longer links take in the tournament, and alone (0: no change). */
struct change {
    int from, to;
    double together, alone;
};

static void apply(const struct change *change)
{
    for (int from = 0; from < POINTS; from++)
        for (int to = 0; to < POINTS; to++)
            if (is_of(from, change->from) && is_of(to, change->to)) {
                together_ns[from][to] *= change->together;
                alone_ns[from][to] *= change->alone;
            }
}

/* clang-format off */
#define OUT_OF(point, factor) {point, ALL, factor, factor}
#define INTO(point, factor) {ALL, point, factor, factor}
#define WAY(from, to, factor) {from, to, factor, factor}
#define PAIR(a, b, factor) WAY(a, b, factor), WAY(b, a, factor)
#define POINT(point, factor) OUT_OF(point, factor), INTO(point, factor)
#define GROUPS(factor) PAIR(ODD, EVEN, factor)
/* clang-format on */

static const struct {
    struct change links[8];
    const char *said;
    int groups;                            /* 0: 1 */
    double threshold, seconds, last_alone; /* 0: as usual */
    bool round_trips;
} cases[] = {
    {.said = ""},
    {.said = "", .round_trips = true},
    {.links = {POINT(2, 1.5)}, .said = "2 slow 50 %"},
    {.links = {POINT(2, 1.5)}, .said = "2 slow 50 %", .round_trips = true},
    {.links = {OUT_OF(0, 1.5)}, .said = "0 slow out 50 %"},
    {.links = {INTO(8, 1.5)}, .said = "8 slow in 50 %"},
    {.links = {PAIR(1, 3, 1.5)}, .said = "1-3 slow 50 %"},
    {.links = {PAIR(1, 3, 1.5)}, .said = "1-3 slow 50 %", .round_trips = true},
    {.links = {WAY(1, 3, 1.5)}, .said = "1-3 slow out 50 %"},
    {.links = {WAY(3, 1, 1.5)}, .said = "1-3 slow in 50 %"},
    {.links = {PAIR(1, 3, 1.5), PAIR(0, 5, 1.6)}, .said = "0-5 slow 60 %, 1-3 slow 50 %"},
    /* The links of a slow point are no pairs of their own, unless they are slower still. */
    {.links = {POINT(2, 1.5), PAIR(1, 2, 2.0)}, .said = "2 slow 50 %, 1-2 slow 100 %"},
    /* A minority that is slow with all is no group, nor are less than a quarter of the points. */
    {.links = {POINT(0, 1.5), POINT(1, 1.5)}, .said = "0 slow 50 %, 1 slow 50 %"},
    {.links = {POINT(0, 1.4), POINT(1, 1.4), POINT(2, 1.4)},
     .said = "0 slow 40 %, 1 slow 40 %, 2 slow 40 %"},
    {.links = {POINT(7, 1.5), POINT(8, 1.5), PAIR(7, 8, 1 / 2.25)},
     .said = "7 slow 50 %, 8 slow 50 %"},
    /* Groups are no fault; of one direction, or of the quicker points, too. */
    {.links = {GROUPS(1.5)}, .said = "", .groups = 2},
    {.links = {WAY(EVEN, ODD, 1.6)}, .said = "", .groups = 2},
    {.links = {WAY(EVEN, EVEN, 1.6)}, .said = "", .groups = 2},
    {.links = {GROUPS(1.1)}, .said = ""},
    /* A link between two groups is compared to others between them. */
    {.links = {GROUPS(1.5), PAIR(0, 3, 1.5)}, .said = "0-3 slow 50 %", .groups = 2},
    /* Slow in the tournament, where it shares something with others, and not alone. */
    {.links = {{1, 3, 1.5, 1.0}}, .said = "1-3 even 0 %"},
    {.links = {{1, ALL, 1.5, 1.0}}, .said = "1 even 0 %"},
    /* Quick once; little slower; no slower than the point's other links. */
    {.links = {WAY(1, 3, 1.5)}, .said = "1-3 even 50 %", .last_alone = 0.6},
    {.links = {{1, 3, 1.5, 1.12}}, .said = "1-3 even 10 %"},
    {.links = {INTO(2, 1.5), {0, 2, 1.6, 1.0}}, .said = "2 slow in 50 %, 0-2 even 0 %"},
    {.links = {OUT_OF(2, 1.5), {2, 0, 1.6, 1.0}}, .said = "2 slow out 50 %, 0-2 even 0 %"},
    {.links = {OUT_OF(0, 1.15)}, .said = ""},
    {.links = {PAIR(1, 3, 1.3)}, .said = "", .threshold = 0.5},
    {.links = {PAIR(1, 3, 1.3)}, .said = "1-3 slow 30 %", .threshold = 0.1},
    /* Without time nothing is timed again, with little the first suspects, which are points; where
       what nobody suspects has no times alone, there is nothing to compare to. */
    {.links = {OUT_OF(0, 1.5), PAIR(1, 3, 1.5)}, .said = "0 unknown, 1-3 unknown", .seconds = -1.0},
    {.links = {OUT_OF(0, 1.5), PAIR(1, 3, 1.5)},
     .said = "0 slow out 50 %, 1-3 unknown",
     .seconds = 1e-9},
    {.links = {OUT_OF(0, 1.5), {ALL, ALL, 1.0, NAN}}, .said = "0 unknown"},
    /* A link without a time, of a round that a signal cut short, changes nothing else. */
    {.links = {OUT_OF(2, 1.5), {0, 1, NAN, 1.0}, {2, 3, NAN, 1.0}}, .said = "2 slow out 50 %"},
    {.links = {POINT(1, NAN)}, .said = ""},
};

TEST(verdicts_of_links)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct linkmap_limits limits = usual_limits;
        const int groups = cases[i].groups > 0 ? cases[i].groups : 1;
        make_links_alike(1, JITTER_NS);
        for (size_t c = 0; cases[i].links[c].together != 0.0; c++)
            apply(&cases[i].links[c]);
        last_alone = cases[i].last_alone > 0.0 ? cases[i].last_alone : 1.0;
        limits.threshold = cases[i].threshold > 0.0 ? cases[i].threshold : limits.threshold;
        limits.seconds = cases[i].seconds != 0.0 ? fmax(0.0, cases[i].seconds) : limits.seconds;
        judge(!cases[i].round_trips, limits);
        if (strcmp(found.text, cases[i].said) != 0 || found.groups != groups ||
            (found.suspects == 0 && found.calls > 0))
            print_error("case %zu: %d groups, '%s', %d links timed again\n", i, found.groups,
                        found.text, found.calls);
        assert_string_equal(found.text, cases[i].said);
        assert_true(found.are_pairs_right);
        assert_int_equal(found.groups, groups);
        assert_true(found.suspects > 0 || found.calls == 0);
    }
}

/* Chance makes suspects in a share of jobs that alpha limits. */
TEST(chance_is_suspected_as_seldom_as_alpha_says)
{
    static const struct {
        double alpha;
        int min, max;
    } limits[] = {{0.01, 0, 2}, {0.5, 2, 25}};
    enum { DRAWS = 50 };
    for (size_t i = 0; i < COUNT(limits); i++) {
        int suspected = 0;
        for (int draw = 0; draw < DRAWS; draw++) {
            make_links_alike((uint64_t)draw, 0.1 * USUAL_NS);
            judge(true, (struct linkmap_limits){.alpha = limits[i].alpha, .threshold = 0.01});
            suspected += found.suspects > 0;
        }
        assert_in_range(suspected, limits[i].min, limits[i].max);
    }
}

/* ---- verdicts that are made up --------------------------------------------------------------- */

enum { NONE = -1, NOT_TIMED, QUICK, NAMED };

static struct linkmap_suspect suspect(int from, int to, enum linkmap_way way, int outcome,
                                      double alone_pct)
{
    return (struct linkmap_suspect){.from = from,
                                    .to = to,
                                    .way = (int)way,
                                    .timed = outcome != NOT_TIMED,
                                    .slow = outcome == NAMED,
                                    .alone_pct = alone_pct};
}

static const struct linkmap_links one_way = {.one_way = true};

/* Outcomes of both ways of a point make one verdict. */
TEST(both_ways_make_a_verdict)
{
    static const struct {
        int out, in;
        enum linkmap_fault fault;
        double pct;
    } outcomes[] = {
        {QUICK, NOT_TIMED, LINKMAP_UNKNOWN, 30.0},
        {NAMED, QUICK, LINKMAP_SLOW_OUT, 60.0},
        {NAMED, NAMED, LINKMAP_SLOW, 62.0},
        /* The way that wasn't timed again was slow in the tournament. */
        {NAMED, NOT_TIMED, LINKMAP_SLOW, 60.0},
    };
    for (size_t i = 0; i < COUNT(outcomes); i++) {
        const int out = outcomes[i].out, in = outcomes[i].in;
        struct linkmap_suspect suspects[] = {
            suspect(2, 2, LINKMAP_OUT, NAMED, 99.0), suspect(1, 1, LINKMAP_OUT, out, 30.0 * out),
            suspect(1, 1, LINKMAP_IN, in, in == NOT_TIMED ? NAN : 31.0 * in)};
        const struct linkmap_verdicts verdicts = {
            .map.links = &one_way, .suspects = suspects, .count = COUNT(suspects)};
        double pct;
        assert_int_equal(linkmap_fault_of(&verdicts, 1, 1, &pct), outcomes[i].fault);
        assert_near(pct, outcomes[i].pct, 0.0);
    }
}

TEST(links_that_were_left_out_have_no_verdict)
{
    double pct;
    struct linkmap_suspect suspects[] = {suspect(1, 2, LINKMAP_OUT, QUICK, 3.0)};
    struct linkmap_verdicts verdicts = {
        .map.links = &one_way, .suspects = suspects, .count = 1, .left_out = 1};
    assert_int_equal(linkmap_fault_of(&verdicts, 0, 1, &pct), LINKMAP_UNKNOWN);
    assert_int_equal(linkmap_fault_of(&verdicts, 1, 2, &pct), LINKMAP_EVEN);
    assert_near(pct, 3.0, 0.0);
}

const struct test_program test_program = {.mpi = true};
