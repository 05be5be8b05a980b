/*
 * What explains the times of all links, on links that are made up. Each rank is a point: for 4 to
 * MADE_UP_MAX ranks.
 */
#include "made_up_links.h"

#include "linkmap/map.h"

#define THRESHOLD 0.2

/* How far medians of few links may be off: a few jitters. */
#define NEAR_NS 20.0

static struct linkmap_map map;
static bool same; /* it is on all ranks */

/* Collective. */
static void make_map(bool one_way)
{
    const struct linkmap_points points = all_points();
    const struct linkmap_links links = links_of(one_way);
    double sum = map.sigma_ns;
    linkmap_map_make(&map, &links, &points, THRESHOLD);
    for (int from = 0; from < map.points; from++)
        for (int to = 0; to < map.points; to++) {
            const double ns = linkmap_explained(&map, from, to);
            sum += isnan(ns) ? 1.0 : (from + 3.0 * to) * ns;
        }
    same = same_everywhere((int64_t)(1e3 * sum));
}

static int free_map(void **state)
{
    linkmap_map_free(&map);
    return 0;
}

/* Fails unless there is one group, and all points but these have no effect. */
static void check_others(int but)
{
    assert_true(same);
    assert_int_equal(map.points, ranks);
    assert_int_equal(map.groups, 1);
    assert_near(map.expected_ns[0][0], USUAL_NS, NEAR_NS);
    if (ranks >= LINKMAP_POINTS_FOR_SIGMA)
        assert_true(map.sigma_ns < 2.0 * JITTER_NS);
    for (int i = 0; i < ranks; i++) {
        assert_int_equal(map.group[i], 0);
        for (int way = 0; way < LINKMAP_WAYS && i != but; way++)
            assert_near(map.effect_ns[way][i], 0.0, NEAR_NS);
    }
}

enum { NONE = -1 };

TEST(links_that_are_alike_have_no_effects)
{
    make_map(true);
    check_others(NONE);
    if (ranks >= LINKMAP_POINTS_FOR_SIGMA)
        assert_true(map.sigma_ns > JITTER_NS / 2.0);
    assert_near(linkmap_expected(&map, 0, 1), map.expected_ns[0][0], 0.0);
}

TEST(a_slow_point_has_an_effect_both_ways)
{
    slow_point(2, LINKMAP_OUT, 1.5);
    slow_point(2, LINKMAP_IN, 2.0);
    make_map(true);
    check_others(2);
    assert_near(map.effect_ns[LINKMAP_OUT][2], 500.0, NEAR_NS);
    assert_near(map.effect_ns[LINKMAP_IN][2], 1000.0, NEAR_NS);
    assert_near(linkmap_explained(&map, 2, 1), 1500.0, 2.0 * NEAR_NS);
    assert_near(linkmap_explained(&map, 1, 2), 2000.0, 2.0 * NEAR_NS);
    assert_near(linkmap_explained(&map, 0, 1), 1000.0, 2.0 * NEAR_NS);
    assert_near(linkmap_expected(&map, 2, 1), USUAL_NS, NEAR_NS);
}

TEST(a_slow_direction_has_an_effect_of_its_own)
{
    slow_point(0, LINKMAP_IN, 2.0);
    make_map(true);
    check_others(0);
    assert_near(map.effect_ns[LINKMAP_OUT][0], 0.0, NEAR_NS);
    assert_near(map.effect_ns[LINKMAP_IN][0], 1000.0, NEAR_NS);
}

/* Of round trips each way has half of what the point's links take longer: which it is isn't
   known, and both are the same links. */
TEST(round_trips_are_explained_whole)
{
    slow_point(1, LINKMAP_OUT, 1.5);
    slow_point(1, LINKMAP_IN, 1.5);
    make_map(false);
    check_others(1);
    assert_near(linkmap_explained(&map, 1, 2), 1500.0, 2.0 * NEAR_NS);
    assert_near(linkmap_explained(&map, 0, 1), 1500.0, 2.0 * NEAR_NS);
}

TEST(a_slow_link_is_not_explained)
{
    slow_pair(0, 3, 3.0);
    make_map(true);
    check_others(NONE);
    assert_near(linkmap_explained(&map, 0, 3), USUAL_NS, 2.0 * NEAR_NS);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int is_odd(int point) { return point % 2; }

TEST(two_groups_have_times_of_their_own)
{
    slow_between(is_odd, 1.5);
    make_map(true);
    assert_true(same);
    assert_int_equal(map.groups, 2);
    for (int i = 0; i < ranks; i++) {
        assert_int_equal(map.group[i], is_odd(i));
        for (int way = 0; way < LINKMAP_WAYS; way++)
            assert_near(map.effect_ns[way][i], 0.0, NEAR_NS);
    }
    for (int from = 0; from < 2; from++)
        for (int to = 0; to < 2; to++)
            assert_near(map.expected_ns[from][to], from == to ? 1000.0 : 1500.0, NEAR_NS);
    assert_near(linkmap_expected(&map, 0, 1), map.expected_ns[0][1], 0.0);
    assert_near(linkmap_expected(&map, 0, 2), map.expected_ns[0][0], 0.0);
}

/* The first point's group is 0, whichever one it is. */
static int is_even(int point) { return !is_odd(point); }

TEST(two_kinds_of_points_are_groups)
{
    if (ranks < 6)
        return; /* Half of four are a single link. */
    /* The majority, or half, takes longer among itself: no minority that is slow with all. */
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++)
            if (is_even(from) && is_even(to))
                slow_way(from, to, 1.6);
    make_map(true);
    assert_true(same);
    assert_int_equal(map.groups, 2);
    for (int i = 0; i < ranks; i++)
        assert_int_equal(map.group[i], is_odd(i));
    assert_near(map.expected_ns[0][0], 1600.0, NEAR_NS);
    assert_near(map.expected_ns[1][1], 1000.0, NEAR_NS);
}

/* One direction between the groups is slow. */
TEST(groups_may_differ_one_way)
{
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++)
            if (is_even(from) && is_odd(to))
                slow_way(from, to, 1.6);
    make_map(true);
    assert_true(same);
    assert_int_equal(map.groups, 2);
    assert_near(map.expected_ns[0][1], 1600.0, NEAR_NS);
    assert_near(map.expected_ns[1][0], 1000.0, NEAR_NS);
}

TEST(groups_differ_by_more_than_the_threshold)
{
    slow_between(is_odd, 1.1);
    make_map(true);
    assert_true(same);
    assert_int_equal(map.groups, 1);
}

/* Where a fifth of the links isn't as the groups say. */
TEST(groups_explain_nearly_all_links)
{
    int number = 0;
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++)
            if (is_odd(from) != is_odd(to) && number++ % 5 > 0)
                slow_way(from, to, 1.5);
    make_map(true);
    assert_true(same);
    assert_int_equal(map.groups, 1);
}

/* The last point alone, or with 12 or more the last two, are less than a quarter. */
static int is_last(int point) { return point >= ranks - (ranks >= 12 ? 2 : 1); }

TEST(a_group_is_a_quarter_or_more)
{
    slow_between(is_last, 1.5);
    make_map(true);
    assert_true(same);
    assert_int_equal(map.groups, 1);
}

/* A third that is slow with all looks like two groups, and is none; with few points two are half,
   and who is slow isn't known. */
TEST(a_slow_minority_is_no_group)
{
    const int slow = ranks / 3;
    for (int i = 0; i < slow; i++) {
        slow_point(i, LINKMAP_OUT, 1.4);
        slow_point(i, LINKMAP_IN, 1.4);
    }
    make_map(true);
    assert_true(same);
    assert_int_equal(map.groups, 1);
    assert_near(map.expected_ns[0][0], USUAL_NS, NEAR_NS);
    for (int i = 0; i < ranks; i++)
        for (int way = 0; way < LINKMAP_WAYS; way++)
            assert_near(map.effect_ns[way][i], i < slow ? 400.0 : 0.0, 2.0 * NEAR_NS);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* A link without a time, such as one of a round that a signal cut short, changes nothing else. */
TEST(a_missing_time_is_left_out)
{
    slow_point(2, LINKMAP_OUT, 1.5);
    made_up.together_ns[0][1] = made_up.together_ns[2][3] = NAN;
    make_map(true);
    check_others(2);
    assert_near(map.effect_ns[LINKMAP_OUT][2], 500.0, NEAR_NS);
    assert_near(linkmap_explained(&map, 0, 1), USUAL_NS, 2.0 * NEAR_NS);
}

TEST(a_point_without_times_has_no_effect)
{
    slow_point(1, LINKMAP_OUT, NAN);
    slow_point(1, LINKMAP_IN, NAN);
    make_map(true);
    check_others(1);
    assert_true(isnan(map.effect_ns[LINKMAP_OUT][1]));
    assert_true(isnan(linkmap_explained(&map, 0, 1)));
}

/* A clock of steps may tell no two links apart. */
TEST(equal_times_are_even)
{
    for (int from = 0; from < MADE_UP_MAX; from++)
        for (int to = 0; to < MADE_UP_MAX; to++)
            made_up.together_ns[from][to] = USUAL_NS;
    make_map(true);
    check_others(NONE);
    assert_near(map.sigma_ns, 0.0, 0.0);
    assert_near(map.effect_sigma_ns[LINKMAP_OUT], 0.0, 0.0);
}

const struct test_program test_program = {
    .mpi = true, .before_each = make_links_alike, .after_each = free_map};
