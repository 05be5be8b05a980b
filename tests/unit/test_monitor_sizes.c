/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts by size: classes of sizes, and a table that is full. */
#include "helpers.h"

#include "monitor/lib/count/sizes.h"

#include <stdlib.h>

TEST(classes_are_powers_of_two)
{
    static const struct {
        int64_t bytes;
        int class;
        int64_t from;
    } cases[] = {{-1, 0, 0},
                 {0, 0, 0},
                 {1, 1, 1},
                 {2, 2, 2},
                 {3, 2, 2},
                 {4, 3, 4},
                 {1023, 10, 512},
                 {1024, 11, 1024},
                 {1025, 11, 1024},
                 {INT64_C(1) << 40, 41, INT64_C(1) << 40},
                 {INT64_MAX, 63, INT64_C(1) << 62}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(size_class(cases[i].bytes), cases[i].class);
        assert_int_equal(size_of_class(cases[i].class), cases[i].from);
        assert_true(size_class(cases[i].bytes) < SIZE_CLASSES);
    }
}

static int64_t lost;

static void add(struct size_table *table, int communicator, int kind, int class)
{
    const struct sized_kind of = {.communicator = (int16_t)communicator,
                                  .kind = (uint8_t)kind,
                                  .size_class = (uint8_t) class};
    const struct size_amounts two = {.completed = 2, .bytes = 1};
    lost += size_table_add(table, &of, &two) ? 0 : two.completed;
}

/* Of more kinds of sizes than there is room for, the first continue to count. */
TEST(a_full_table_loses_new_ones)
{
    struct size_table table = {.counts = calloc(1 << SIZE_COUNTS_BITS, sizeof *table.counts)};
    assert_non_null(table.counts);
    int added = 0;
    for (int communicator = 0; communicator < 512; communicator++)
        for (int kind = 0; kind < 2; kind++)
            for (int class = 0; class < 10; class ++, added++)
                add(&table, communicator, kind, class);
    assert_int_equal(table.used, SIZE_COUNTS_MAX);
    assert_int_equal(lost, 2 * (added - SIZE_COUNTS_MAX));
    add(&table, 0, 0, 0);
    assert_int_equal(lost, 2 * (added - SIZE_COUNTS_MAX));
    int64_t completed = 0;
    for (int i = 0; i < 1 << SIZE_COUNTS_BITS; i++)
        completed += table.counts[i].amounts.completed;
    assert_int_equal(completed, 2 * (SIZE_COUNTS_MAX + 1));
    free(table.counts);
}
