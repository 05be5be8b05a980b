/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks in the order of their nodes, which are made up. For 2 to 7 ranks.
 */
#include "ranks.h"

#include "common/job/node_order.h"

#include <stdbool.h>
#include <string.h>

enum { RANKS_MAX = 7 };

/* A job whose ranks are on these nodes, numbered as bc_job_describe does. Collective. */
static struct bc_job job_on(const int *nodes)
{
    struct bc_job job = {.rank = rank, .ranks = ranks, .node = nodes[rank]};
    for (int r = 0; r < ranks; r++)
        job.nodes = nodes[r] + 1 > job.nodes ? nodes[r] + 1 : job.nodes;
    MPI_Comm_split(MPI_COMM_WORLD, job.node, rank, &job.node_comm);
    MPI_Comm_rank(job.node_comm, &job.node_rank);
    return job;
}

/* Which rank is at each place, by the definition of the order. */
static void sort_by_node(const int *nodes, int *rank_at)
{
    int place = 0;
    for (int node = 0; node < ranks; node++)
        for (int r = 0; r < ranks; r++)
            if (nodes[r] == node)
                rank_at[place++] = r;
}

static void assert_ordered(const int *nodes)
{
    int expected[RANKS_MAX], found[RANKS_MAX], none;
    struct bc_node_order order;
    struct bc_job job = job_on(nodes);
    bc_node_order_create(&order, &job);
    for (int place = 0; place < ranks; place++)
        found[place] = bc_node_order_rank(&order, place);
    none = bc_node_order_rank(&order, -1);
    const int place = order.place;
    const bool world = order.comm == MPI_COMM_WORLD;
    bc_node_order_destroy(&order);
    MPI_Comm_free(&job.node_comm);

    sort_by_node(nodes, expected);
    assert_memory_equal(found, expected, (size_t)ranks * sizeof *found);
    assert_int_equal(expected[place], rank);
    assert_int_equal(none, -1);
    bool same = true;
    for (int i = 0; i < ranks; i++)
        same = same && expected[i] == i;
    assert_int_equal(world, same);
}

TEST(ranks_are_ordered_by_node)
{
    int nodes[RANKS_MAX] = {0};
    for (int per_node = 1; per_node <= ranks; per_node++) { /* filled one by one */
        for (int r = 0; r < ranks; r++)
            nodes[r] = r / per_node;
        assert_ordered(nodes);
    }
    for (int count = 1; count <= ranks; count++) { /* dealt out */
        for (int r = 0; r < ranks; r++)
            nodes[r] = r % count;
        assert_ordered(nodes);
    }
    for (int r = 0; r < ranks; r++) /* node 0 has the first rank and the last */
        nodes[r] = r != 0 && r != ranks - 1;
    assert_ordered(nodes);
}

/* The percentage of pairs that cross nodes if each rank but the first `without` ones names the rank
   that is `distance` above it. Collective. */
static int pct_of(const int *nodes, int distance, int without)
{
    struct bc_job job = job_on(nodes);
    const int partner = (rank + distance) % ranks;
    const int pct = bc_crossing_pct(&job, &partner, rank >= without);
    MPI_Comm_free(&job.node_comm);
    return pct;
}

TEST(pairs_that_cross_nodes_are_counted)
{
    int own[RANKS_MAX] = {0}, same[RANKS_MAX] = {0}, last[RANKS_MAX] = {0};
    for (int r = 0; r < ranks; r++)
        own[r] = r;
    last[ranks - 1] = 1;
    const int all = pct_of(own, 1, 0);
    const int none = pct_of(same, 1, 0);
    /* The last rank is on a node of its own and in two of the pairs. */
    const int two = pct_of(last, 1, 0);
    const int one = pct_of(last, 1, ranks - 1);
    const int of_nothing = pct_of(own, 1, ranks);
    if (rank != 0)
        return;
    assert_int_equal(all, 100);
    assert_int_equal(none, 0);
    assert_int_equal(two, (200 + ranks / 2) / ranks);
    assert_int_equal(one, 100);
    assert_int_equal(of_nothing, 0);
}

/* 2 of 1,000 are more than 0 %, and 999 of 1,000 less than 100 %. */
TEST(few_are_not_none)
{
    enum { MANY = 1000 };
    int partners[MANY], nodes[RANKS_MAX] = {0};
    for (int r = 0; r < ranks; r++)
        nodes[r] = r;
    struct bc_job job = job_on(nodes);
    for (int i = 0; i < MANY; i++)
        partners[i] = i < 2 && rank == 0 ? 1 : rank;
    const int few = bc_crossing_pct(&job, partners, MANY);
    for (int i = 0; i < MANY; i++)
        partners[i] = i < 1 && rank == 0 ? 0 : (rank + 1) % ranks;
    const int most = bc_crossing_pct(&job, partners, MANY);
    MPI_Comm_free(&job.node_comm);
    if (rank != 0)
        return;
    assert_int_equal(few, 1);
    assert_int_equal(most, 99);
}

const struct test_program test_program = {.mpi = true};
