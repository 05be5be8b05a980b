/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks synchronise with which. */
#include "helpers.h"
#include "syncbench/syncbench.h"

#include <stdbool.h>

enum { RANKS_MAX = 64, NEIGHBOURS_MAX = 12 };

static const enum syncbench_set sets[] = {SYNCBENCH_PAIR, SYNCBENCH_RANDOM, SYNCBENCH_RING,
                                          SYNCBENCH_GRID};

static bool names(const int *list, int count, int rank)
{
    for (int i = 0; i < count; i++)
        if (list[i] == rank)
            return true;
    return false;
}

/* A rank is a neighbour of its neighbours, and not its own; neighbours are ranks that exist, each
   once. */
static void assert_symmetric(enum syncbench_set set, int ranks, int n, const int *dims,
                             const int *order, int expected)
{
    static int lists[RANKS_MAX][NEIGHBOURS_MAX];
    int counts[RANKS_MAX];
    for (int rank = 0; rank < ranks; rank++) {
        counts[rank] = syncbench_neighbours(set, rank, ranks, n, dims, order, lists[rank]);
        assert_int_equal(counts[rank], expected);
        for (int i = 0; i < counts[rank]; i++) {
            assert_in_range(lists[rank][i], 0, ranks - 1);
            assert_int_not_equal(lists[rank][i], rank);
            assert_true(i == 0 || lists[rank][i] > lists[rank][i - 1]);
        }
    }
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < counts[rank]; i++) {
            const int other = lists[rank][i];
            assert_true(names(lists[other], counts[other], rank));
        }
}

TEST(all_are_symmetric)
{
    int order[RANKS_MAX];
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++)
        for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
            for (int n = 2; n <= NEIGHBOURS_MAX; n += 2) {
                if (syncbench_lacks(sets[s], ranks, n) != NULL || sets[s] == SYNCBENCH_GRID)
                    continue;
                syncbench_permute((uint64_t)ranks * (uint64_t)n, ranks, order);
                assert_symmetric(sets[s], ranks, n, NULL, order, sets[s] == SYNCBENCH_PAIR ? 1 : n);
            }
    /* Where a dimension is 2 both neighbours in it are the same rank. */
    assert_symmetric(SYNCBENCH_GRID, 8, 2, (const int[]){2, 2, 2}, NULL, 3);
    assert_symmetric(SYNCBENCH_GRID, 12, 2, (const int[]){3, 2, 2}, NULL, 4);
    assert_symmetric(SYNCBENCH_GRID, 27, 2, (const int[]){3, 3, 3}, NULL, 6);
    assert_symmetric(SYNCBENCH_GRID, 64, 2, (const int[]){4, 4, 4}, NULL, 6);
    assert_symmetric(SYNCBENCH_GRID, 11, 2, (const int[]){11, 1, 1}, NULL, 2);
}

TEST(rings_and_pairs)
{
    int list[NEIGHBOURS_MAX];
    assert_int_equal(syncbench_neighbours(SYNCBENCH_RING, 0, 8, 4, NULL, NULL, list), 4);
    static const int expected[] = {1, 2, 6, 7};
    assert_memory_equal(list, expected, sizeof expected);
    syncbench_neighbours(SYNCBENCH_PAIR, 1, 8, 2, NULL, NULL, list);
    assert_int_equal(list[0], 5);
    syncbench_neighbours(SYNCBENCH_PAIR, 6, 8, 2, NULL, NULL, list);
    assert_int_equal(list[0], 2);
}

TEST(sets_that_fit_the_job)
{
    assert_null(syncbench_lacks(SYNCBENCH_PAIR, 2, 2));
    assert_non_null(syncbench_lacks(SYNCBENCH_PAIR, 3, 2));
    assert_non_null(syncbench_lacks(SYNCBENCH_RING, 3, 2));
    assert_null(syncbench_lacks(SYNCBENCH_RING, 4, 2));
    assert_null(syncbench_lacks(SYNCBENCH_RANDOM, 8, 6));
    assert_non_null(syncbench_lacks(SYNCBENCH_RANDOM, 8, 7));
    assert_non_null(syncbench_lacks(SYNCBENCH_GRID, 7, 2));
    assert_null(syncbench_lacks(SYNCBENCH_GRID, 8, 2));
    assert_null(syncbench_lacks(SYNCBENCH_EVERYONE, 2, 2));
}

/* A seed gives one order of all ranks, another seed another order, and each rank is in each place
   equally often. */
TEST(orders_are_random)
{
    int again[RANKS_MAX], order[RANKS_MAX];
    syncbench_permute(7, RANKS_MAX, order);
    syncbench_permute(7, RANKS_MAX, again);
    assert_memory_equal(order, again, sizeof order);
    syncbench_permute(8, RANKS_MAX, again);
    assert_memory_not_equal(order, again, sizeof order);
    for (int rank = 0; rank < RANKS_MAX; rank++)
        assert_true(names(order, RANKS_MAX, rank));
    enum { FEW = 5, DRAWS = 10000 };
    int often[FEW][FEW] = {{0}};
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        syncbench_permute(seed, FEW, order);
        for (int place = 0; place < FEW; place++)
            often[place][order[place]]++;
    }
    for (int place = 0; place < FEW; place++)
        for (int number = 0; number < FEW; number++)
            assert_near(often[place][number], DRAWS / 5.0, 5.0 * sqrt(DRAWS * 0.2 * 0.8));
}
