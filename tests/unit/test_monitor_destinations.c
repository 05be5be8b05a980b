/*
 * Destinations of messages, and which of them had one in the same burst.
 */
#include "helpers.h"

#include "monitor/destinations.h"

#include <stdlib.h>

static struct destination_table table;

static int set_up(void **state)
{
    table = (struct destination_table){.entries =
                                           calloc(1 << DESTINATIONS_BITS, sizeof *table.entries)};
    return table.entries == NULL;
}

static int tear_down(void **state)
{
    free(table.entries);
    return 0;
}

TEST(a_burst_ends)
{
    assert_int_equal(destination_add(&table, 1, 2, 3, 10), DESTINATION_NEW);
    assert_int_equal(destination_add(&table, 1, 2, 3, 10), DESTINATION_AGAIN);
    assert_int_equal(destination_add(&table, 1, 2, 3, 11), DESTINATION_KNOWN);
    assert_int_equal(destination_add(&table, 1, 2, 3, 11), DESTINATION_AGAIN);
    /* Other messages between don't matter. */
    assert_int_equal(destination_add(&table, 1, 2, 4, 11), DESTINATION_NEW);
    assert_int_equal(destination_add(&table, 1, 2, 3, 11), DESTINATION_AGAIN);
}

TEST(who_and_how_tells_them_apart)
{
    static const int keys[][3] = {{1, 2, 3}, {0, 2, 3}, {1, 0, 3}, {1, 2, 0},
                                  {2, 1, 3}, {3, 2, 1}, {0, 0, 0}, {511, 254, 0x7fffffff}};
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_int_equal(destination_add(&table, keys[i][0], keys[i][1], keys[i][2], 1),
                         DESTINATION_NEW);
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_int_equal(destination_add(&table, keys[i][0], keys[i][1], keys[i][2], 1),
                         DESTINATION_AGAIN);
    assert_int_equal(table.used, COUNT(keys));
}

TEST(a_table_that_is_full)
{
    for (int i = 0; i < DESTINATIONS_MAX; i++)
        assert_int_equal(destination_add(&table, 1, 2, i, 1), DESTINATION_NEW);
    assert_int_equal(destination_add(&table, 1, 2, DESTINATIONS_MAX, 1), DESTINATION_NO_ROOM);
    assert_int_equal(destination_add(&table, 1, 2, DESTINATIONS_MAX, 1), DESTINATION_NO_ROOM);
    assert_int_equal(destination_add(&table, 1, 2, 0, 2), DESTINATION_KNOWN);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
