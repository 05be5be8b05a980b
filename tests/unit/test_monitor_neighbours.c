/*
 * Destinations of messages, and which of them had one in the same burst.
 */
#include "helpers.h"

#include "monitor/neighbours.h"

static struct neighbour_table table;

static int set_up(void **state) { return !neighbour_table_make(&table); }

static int tear_down(void **state)
{
    neighbour_table_free(&table);
    neighbour_table_free(&table); /* does no harm */
    return 0;
}

TEST(a_burst_ends)
{
    assert_int_equal(neighbour_add(&table, 1, 2, 3, 10), NEIGHBOUR_NEW);
    assert_int_equal(neighbour_add(&table, 1, 2, 3, 10), NEIGHBOUR_AGAIN);
    assert_int_equal(neighbour_add(&table, 1, 2, 3, 11), NEIGHBOUR_KNOWN);
    assert_int_equal(neighbour_add(&table, 1, 2, 3, 11), NEIGHBOUR_AGAIN);
    /* Other messages between don't matter. */
    assert_int_equal(neighbour_add(&table, 1, 2, 4, 11), NEIGHBOUR_NEW);
    assert_int_equal(neighbour_add(&table, 1, 2, 3, 11), NEIGHBOUR_AGAIN);
}

TEST(who_and_how_tells_them_apart)
{
    static const int keys[][3] = {{1, 2, 3}, {0, 2, 3}, {1, 0, 3}, {1, 2, 0},
                                  {2, 1, 3}, {3, 2, 1}, {0, 0, 0}, {511, 254, 0x7fffffff}};
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_int_equal(neighbour_add(&table, keys[i][0], keys[i][1], keys[i][2], 1),
                         NEIGHBOUR_NEW);
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_int_equal(neighbour_add(&table, keys[i][0], keys[i][1], keys[i][2], 1),
                         NEIGHBOUR_AGAIN);
    assert_int_equal(table.used, COUNT(keys));
}

TEST(a_table_that_is_full)
{
    for (int i = 0; i < NEIGHBOURS_MAX; i++)
        assert_int_equal(neighbour_add(&table, 1, 2, i, 1), NEIGHBOUR_NEW);
    assert_int_equal(neighbour_add(&table, 1, 2, NEIGHBOURS_MAX, 1), NEIGHBOUR_NO_ROOM);
    assert_int_equal(neighbour_add(&table, 1, 2, NEIGHBOURS_MAX, 1), NEIGHBOUR_NO_ROOM);
    assert_int_equal(neighbour_add(&table, 1, 2, 0, 2), NEIGHBOUR_KNOWN);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
