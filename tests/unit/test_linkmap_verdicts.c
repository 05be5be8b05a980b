/*
 * What is out of line, on links that are made up. Each rank is a point: for 4 to MADE_UP_MAX ranks.
 */
#include "made_up_links.h"

#include "common/run/signals.h"
#include "linkmap/verdicts.h"

#include <signal.h>

static const struct linkmap_limits usual_limits = {
    .alpha = 0.01, .threshold = 0.2, .seconds = 20.0};

/* What the last judge() found, for all points and links; unknown of those that are none. */
static struct {
    enum linkmap_fault point[MADE_UP_MAX], link[MADE_UP_MAX][MADE_UP_MAX];
    double point_pct[MADE_UP_MAX], link_pct[MADE_UP_MAX][MADE_UP_MAX];
    int groups, suspects, timed, left_out;
    int64_t calls; /* of linkmap_time_link as the one that leads, on all ranks */
    bool same;     /* on all ranks */
} found;

static void note_verdicts(const struct linkmap_verdicts *verdicts)
{
    int64_t hash = verdicts->count + 1000 * verdicts->left_out;
    found.suspects = verdicts->count;
    found.left_out = verdicts->left_out;
    found.timed = 0;
    for (int i = 0; i < verdicts->count; i++)
        found.timed += verdicts->suspects[i].timed;
    for (int a = 0; a < ranks; a++) {
        found.point[a] = linkmap_fault_of_point(verdicts, a, &found.point_pct[a]);
        hash = 31 * hash % 1000003 + found.point[a];
        for (int b = a + 1; b < ranks; b++) {
            found.link[a][b] = linkmap_fault_of_link(verdicts, a, b, &found.link_pct[a][b]);
            hash = 31 * hash % 1000003 + found.link[a][b];
        }
    }
    found.same = same_everywhere(hash);
}

/* Collective. */
static void judge(bool one_way, struct linkmap_limits limits)
{
    const struct linkmap_points points = all_points();
    const struct linkmap_links links = links_of(one_way);
    struct linkmap_map map;
    struct linkmap_verdicts verdicts;
    linkmap_map_make(&map, &links, &points, limits.threshold);
    linkmap_judge(&verdicts, &map, &links, &points, &limits);
    found.groups = map.groups;
    note_verdicts(&verdicts);
    linkmap_verdicts_free(&verdicts);
    linkmap_map_free(&map);
    found.calls = 0;
    for (int to = 0; to < ranks; to++)
        found.calls += made_up.alone_calls[rank][to];
    MPI_Allreduce(MPI_IN_PLACE, &found.calls, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

enum { NONE = -1 };

/* Fails unless all is even but this point, and this link (a < b). */
static void check_others(int point, int a, int b)
{
    assert_true(found.same);
    assert_int_equal(found.left_out, 0);
    for (int i = 0; i < ranks; i++) {
        if (i != point)
            assert_int_equal(found.point[i], LINKMAP_EVEN);
        for (int k = i + 1; k < ranks; k++)
            if (i != a || k != b)
                assert_int_equal(found.link[i][k], LINKMAP_EVEN);
    }
}

/* ---- what is named --------------------------------------------------------------------------- */

TEST(nothing_is_named_of_links_that_are_alike)
{
    for (int one_way = 0; one_way < 2; one_way++) {
        judge(one_way, usual_limits);
        check_others(NONE, NONE, NONE);
        assert_true(isnan(found.point_pct[0]));
        assert_true(isnan(found.link_pct[0][1]));
        /* Without a suspect nothing is timed again. */
        assert_int_equal(found.calls, 0);
    }
}

static void slow_both_ways(int point)
{
    slow_point(point, LINKMAP_OUT, 1.5);
    slow_point(point, LINKMAP_IN, 1.5);
}

TEST(a_slow_point_is_named)
{
    slow_both_ways(2);
    for (int one_way = 0; one_way < 2; one_way++) {
        judge(one_way, usual_limits);
        check_others(2, NONE, NONE);
        assert_int_equal(found.point[2], LINKMAP_SLOW);
        assert_near(found.point_pct[2], 50.0, 5.0);
    }
}

TEST(a_slow_direction_is_named)
{
    slow_point(0, LINKMAP_OUT, 1.5);
    judge(true, usual_limits);
    check_others(0, NONE, NONE);
    assert_int_equal(found.point[0], LINKMAP_SLOW_OUT);
    make_links_alike(NULL);
    slow_point(ranks - 1, LINKMAP_IN, 1.5);
    judge(true, usual_limits);
    check_others(ranks - 1, NONE, NONE);
    assert_int_equal(found.point[ranks - 1], LINKMAP_SLOW_IN);
}

TEST(a_slow_pair_is_named)
{
    slow_pair(1, 3, 1.5);
    for (int one_way = 0; one_way < 2; one_way++) {
        judge(one_way, usual_limits);
        check_others(NONE, 1, 3);
        assert_int_equal(found.link[1][3], LINKMAP_SLOW);
        assert_near(found.link_pct[1][3], 50.0, 8.0);
    }
}

TEST(a_slow_way_of_a_pair_is_named)
{
    slow_way(1, 3, 1.5);
    judge(true, usual_limits);
    check_others(NONE, 1, 3);
    assert_int_equal(found.link[1][3], LINKMAP_SLOW_OUT);
    make_links_alike(NULL);
    slow_way(3, 1, 1.5);
    judge(true, usual_limits);
    check_others(NONE, 1, 3);
    assert_int_equal(found.link[1][3], LINKMAP_SLOW_IN);
}

/* The links of a slow point are no pairs of their own, unless they are slower still. */
TEST(a_pair_of_a_slow_point_is_named_beside_it)
{
    slow_both_ways(2);
    slow_pair(1, 2, 2.0);
    judge(true, usual_limits);
    if (ranks < 9)
        return; /* Its three links don't tell. */
    check_others(2, 1, 2);
    assert_int_equal(found.point[2], LINKMAP_SLOW);
    assert_int_equal(found.link[1][2], LINKMAP_SLOW);
}

TEST(a_minority_of_slow_points_is_named)
{
    const int slow = (ranks - 1) / 3;
    for (int i = 0; i < slow; i++) {
        slow_both_ways(i);
    }
    judge(true, usual_limits);
    assert_true(found.same);
    assert_int_equal(found.groups, 1);
    for (int i = 0; i < ranks; i++)
        assert_int_equal(found.point[i], i < slow ? LINKMAP_SLOW : LINKMAP_EVEN);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int is_odd(int point) { return point % 2; }

TEST(groups_are_no_fault)
{
    slow_between(is_odd, 1.5);
    judge(true, usual_limits);
    check_others(NONE, NONE, NONE);
    assert_int_equal(found.groups, 2);
    assert_int_equal(found.calls, 0);
}

/* A link between two groups is compared to others between them. */
TEST(a_slow_pair_of_two_groups_is_named)
{
    if (ranks < 8)
        return; /* Among four a slow link is no tenth of those between the groups. */
    slow_between(is_odd, 1.5);
    slow_pair(0, 3, 1.5);
    judge(true, usual_limits);
    check_others(NONE, 0, 3);
    assert_int_equal(found.groups, 2);
    assert_int_equal(found.link[0][3], LINKMAP_SLOW);
    assert_near(found.link_pct[0][3], 50.0, 8.0);
}

/* ---- what is suspected and not named --------------------------------------------------------- */

/* Slow in the tournament, where it shares something with others, and not alone. */
TEST(what_is_quick_alone_is_even)
{
    made_up.together_ns[1][3] *= 1.5;
    judge(true, usual_limits);
    check_others(NONE, NONE, NONE);
    assert_int_equal(found.suspects, 1);
    assert_int_equal(found.timed, 1);
    assert_near(found.link_pct[1][3], 0.0, 5.0);
}

TEST(a_point_that_is_quick_alone_is_even)
{
    for (int other = 0; other < MADE_UP_MAX; other++)
        made_up.together_ns[1][other] *= 1.5;
    judge(true, usual_limits);
    check_others(NONE, NONE, NONE);
    assert_int_equal(found.suspects, 1);
    assert_near(found.point_pct[1], 0.0, 5.0);
}

/* The link is slow in the median of its times alone, and quick once. */
static double quick_at_last(int earlier) { return earlier == 5 ? 0.6 : 1.0; }

TEST(what_is_quick_once_is_even)
{
    slow_way(1, 3, 1.5);
    made_up.factor_of_call = quick_at_last;
    judge(true, usual_limits);
    check_others(NONE, NONE, NONE);
    assert_near(found.link_pct[1][3], 50.0, 8.0);
}

/* Each of its times alone is longer than half of the threshold, and their median than no more. */
TEST(what_is_little_slower_alone_is_even)
{
    made_up.together_ns[1][3] *= 1.5;
    made_up.alone_ns[1][3] *= 1.15;
    judge(true, usual_limits);
    check_others(NONE, NONE, NONE);
    assert_near(found.link_pct[1][3], 15.0, 5.0);
}

/* Alone, too, it takes no longer than its points' other links do. */
TEST(what_its_points_explain_is_even)
{
    slow_point(2, LINKMAP_IN, 1.5);
    made_up.together_ns[0][2] *= 1.6;
    judge(true, usual_limits);
    check_others(2, NONE, NONE);
    assert_int_equal(found.point[2], LINKMAP_SLOW_IN);
    make_links_alike(NULL);
    slow_point(2, LINKMAP_OUT, 1.5);
    made_up.together_ns[2][0] *= 1.6;
    judge(true, usual_limits);
    check_others(2, NONE, NONE);
    assert_int_equal(found.point[2], LINKMAP_SLOW_OUT);
}

/* It takes longer than its threshold asks, and than chance makes it. */
TEST(the_threshold_decides)
{
    struct linkmap_limits limits = usual_limits;
    slow_point(0, LINKMAP_OUT, 1.15);
    judge(true, limits);
    assert_int_equal(found.suspects, 0);
    make_links_alike(NULL);
    slow_pair(1, 3, 1.3);
    limits.threshold = 0.5;
    judge(true, limits);
    check_others(NONE, NONE, NONE);
    assert_int_equal(found.suspects, 0);
    limits.threshold = 0.1;
    judge(true, limits);
    check_others(NONE, 1, 3);
    assert_int_equal(found.link[1][3], LINKMAP_SLOW);
}

/* In how many of DRAWS jobs anything is suspected whose links vary by a tenth. Collective. */
#ifdef COMMCOST_FULL_TESTS
enum { DRAWS = 5000 };
#else
enum { DRAWS = 50 };
#endif
static int suspected_by_chance(double alpha)
{
    const struct linkmap_limits limits = {.alpha = alpha, .threshold = 0.01, .seconds = 0.0};
    int suspected = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        struct random random = random_from((uint64_t)draw);
        for (int from = 0; from < MADE_UP_MAX; from++)
            for (int to = 0; to < MADE_UP_MAX; to++)
                made_up.together_ns[from][to] = USUAL_NS * (1.0 + 0.1 * random_normal(&random));
        judge(true, limits);
        suspected += found.suspects > 0;
    }
    return suspected;
}

/* As alpha says; the links of few points don't tell how much they vary. */
TEST(chance_is_suspected_as_seldom_as_alpha_says)
{
    const int usual = suspected_by_chance(0.01), lax = suspected_by_chance(0.5);
    if (rank == 0)
        print_message("of %d jobs of %d points alike, %d have suspects with 1 %%, %d with 50 %%\n",
                      DRAWS, ranks, usual, lax);
    if (ranks < LINKMAP_POINTS_FOR_SIGMA)
        return;
    /* Of 50 at 1 % more than two are suspected once in 70 times. */
    assert_in_range(usual, 0, DRAWS == 50 ? 2 : DRAWS / 100);
    assert_in_range(lax, DRAWS / 20, DRAWS / 2);
}

/* ---- what has no verdict --------------------------------------------------------------------- */

TEST(without_time_suspects_have_no_verdict)
{
    struct linkmap_limits limits = usual_limits;
    limits.seconds = 0.0;
    slow_point(0, LINKMAP_OUT, 1.5);
    slow_pair(1, 3, 1.5);
    judge(true, limits);
    assert_true(found.same);
    assert_int_equal(found.timed, 0);
    assert_int_equal(found.point[0], LINKMAP_UNKNOWN);
    assert_int_equal(found.point[1], LINKMAP_EVEN);
    assert_int_equal(found.link[1][3], LINKMAP_UNKNOWN);
    assert_int_equal(found.link[0][1], LINKMAP_EVEN);
    assert_true(isnan(found.point_pct[0]));
}

/* Points come first. */
TEST(what_there_is_time_for_has_a_verdict)
{
    struct linkmap_limits limits = usual_limits;
    limits.seconds = 1e-9;
    slow_point(0, LINKMAP_OUT, 1.5);
    slow_pair(1, 3, 1.5);
    judge(true, limits);
    assert_true(found.same);
    assert_int_equal(found.point[0], LINKMAP_SLOW_OUT);
    assert_int_equal(found.link[1][3], LINKMAP_UNKNOWN);
}

/* Where what nobody suspects has no times alone, there is nothing to compare to. */
TEST(without_controls_there_is_no_verdict)
{
    slow_point(0, LINKMAP_OUT, 1.5);
    for (int a = 1; a < ranks; a++)
        for (int b = a + 1; b < ranks; b++)
            made_up.alone_ns[a][b] = made_up.alone_ns[b][a] = NAN;
    judge(true, usual_limits);
    assert_true(found.same);
    assert_int_equal(found.point[0], LINKMAP_UNKNOWN);
}

/* ---- verdicts that are made up --------------------------------------------------------------- */

enum { NOT_TIMED, QUICK, NAMED };

static struct linkmap_suspect suspect(int from, int to, enum linkmap_way way, int outcome,
                                      double alone_pct)
{
    return (struct linkmap_suspect){.from = from,
                                    .to = to,
                                    .way = (int)way,
                                    .timed = outcome != NOT_TIMED,
                                    .named = outcome == NAMED,
                                    .alone_pct = alone_pct};
}

/* The fault of point 1 with these outcomes; -1: not suspected. */
static enum linkmap_fault of_ways(bool one_way, int out, int in, double *alone_pct)
{
    struct linkmap_suspect suspects[3] = {suspect(2, 2, LINKMAP_OUT, NAMED, 99.0)};
    struct linkmap_verdicts verdicts = {.suspects = suspects, .count = 1, .one_way = one_way};
    if (out >= 0)
        suspects[verdicts.count++] =
            suspect(1, 1, LINKMAP_OUT, out, out == NOT_TIMED ? NAN : 30.0 * out);
    if (in >= 0)
        suspects[verdicts.count++] =
            suspect(1, 1, LINKMAP_IN, in, in == NOT_TIMED ? NAN : 31.0 * in);
    return linkmap_fault_of_point(&verdicts, 1, alone_pct);
}

TEST(both_ways_make_a_verdict)
{
    static const struct {
        bool one_way;
        int out, in;
        enum linkmap_fault fault;
        double pct;
    } cases[] = {
        {true, NONE, NONE, LINKMAP_EVEN, NAN},
        {true, QUICK, NONE, LINKMAP_EVEN, 30.0},
        {true, NOT_TIMED, NONE, LINKMAP_UNKNOWN, NAN},
        {true, QUICK, NOT_TIMED, LINKMAP_UNKNOWN, 30.0},
        {true, NAMED, NONE, LINKMAP_SLOW_OUT, 60.0},
        {true, NONE, NAMED, LINKMAP_SLOW_IN, 62.0},
        {true, NAMED, QUICK, LINKMAP_SLOW_OUT, 60.0},
        {true, NAMED, NAMED, LINKMAP_SLOW, 62.0},
        /* The way that wasn't timed again was slow in the tournament. */
        {true, NAMED, NOT_TIMED, LINKMAP_SLOW, 60.0},
        {false, NAMED, NONE, LINKMAP_SLOW, 60.0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double pct;
        assert_int_equal(of_ways(cases[i].one_way, cases[i].out, cases[i].in, &pct),
                         cases[i].fault);
        assert_near(pct, cases[i].pct, 0.0);
    }
}

TEST(links_that_were_left_out_have_no_verdict)
{
    double pct;
    struct linkmap_suspect suspects[] = {suspect(1, 2, LINKMAP_OUT, QUICK, 3.0),
                                         suspect(3, 2, LINKMAP_OUT, NAMED, 40.0),
                                         suspect(0, 0, LINKMAP_OUT, NAMED, 50.0)};
    struct linkmap_verdicts verdicts = {.suspects = suspects, .count = 3, .one_way = true};
    assert_int_equal(linkmap_fault_of_link(&verdicts, 0, 1, &pct), LINKMAP_EVEN);
    verdicts.left_out = 1;
    assert_int_equal(linkmap_fault_of_link(&verdicts, 0, 1, &pct), LINKMAP_UNKNOWN);
    assert_true(isnan(pct));
    assert_int_equal(linkmap_fault_of_link(&verdicts, 1, 2, &pct), LINKMAP_EVEN);
    assert_near(pct, 3.0, 0.0);
    /* From the lower point it comes in. */
    assert_int_equal(linkmap_fault_of_link(&verdicts, 2, 3, &pct), LINKMAP_SLOW_IN);
    assert_near(pct, 40.0, 0.0);
}

TEST(verdicts_have_names)
{
    assert_null(linkmap_fault_name(LINKMAP_UNKNOWN));
    assert_string_equal(linkmap_fault_name(LINKMAP_EVEN), "even");
    assert_string_equal(linkmap_fault_name(LINKMAP_SLOW), "slow");
    assert_string_equal(linkmap_fault_name(LINKMAP_SLOW_OUT), "slow out");
    assert_string_equal(linkmap_fault_name(LINKMAP_SLOW_IN), "slow in");
}

/* ---- the end --------------------------------------------------------------------------------- */

/* While suspects are timed alone, on one rank. The signal stays noted in this process, so this is
   the last test. */
static double ended_by_a_signal(int earlier)
{
    if (earlier == 1)
        raise(SIGTERM);
    return 1.0;
}

TEST(a_signal_leaves_suspects_without_verdicts)
{
    bc_signals_watch();
    slow_pair(1, 3, 1.5);
    made_up.factor_of_call = rank == 1 ? ended_by_a_signal : NULL;
    judge(true, usual_limits);
    assert_true(found.same);
    assert_int_equal(found.suspects, 2);
    assert_int_equal(found.timed, 0);
    assert_int_equal(found.link[1][3], LINKMAP_UNKNOWN);
    assert_int_equal(found.link[0][1], LINKMAP_EVEN);
    assert_int_equal(made_up.alone_calls[1][3], rank == 1 ? 2 : 0);
}

const struct test_program test_program = {.mpi = true, .before_each = make_links_alike};
