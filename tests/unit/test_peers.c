/* SPDX-License-Identifier: BSD-3-Clause */
/* Who exchanges messages with whom, in every job up to 40 ranks on made-up nodes; and the data of
   messages. */
#include "helpers.h"
#include "common/memory/placement.h"
#include "msgrate/bench.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 40 };

/* Compares the lists of a rank with known ones. */
static void assert_peers(int rank, int ranks, int count, int stride, const int *sends,
                         const int *receives)
{
    int actual_sends[RANKS_MAX], actual_receives[RANKS_MAX];
    msgrate_peers_list(rank, ranks, count, stride, actual_sends, actual_receives);
    assert_memory_equal(actual_sends, sends, (size_t)count * sizeof(int));
    assert_memory_equal(actual_receives, receives, (size_t)count * sizeof(int));
}

TEST(examples)
{
    /* The specification's default: three below, three above. */
    assert_peers(10, 20, 6, 1, (int[]){7, 8, 9, 11, 12, 13}, (int[]){7, 8, 9, 11, 12, 13});
    /* The peers below rank 0 are at the end of the ring. */
    assert_peers(0, 7, 6, 1, (int[]){4, 5, 6, 1, 2, 3}, (int[]){4, 5, 6, 1, 2, 3});
    /* One peer makes a ring; three have the extra one above for sending. */
    assert_peers(0, 2, 1, 1, (int[]){1}, (int[]){1});
    assert_peers(4, 5, 1, 1, (int[]){0}, (int[]){3});
    assert_peers(5, 9, 3, 1, (int[]){4, 6, 7}, (int[]){3, 4, 6});
    /* A stride of four ranks, as with nodes of four. */
    assert_peers(5, 16, 2, 4, (int[]){1, 9}, (int[]){1, 9});
    /* A stride larger than the job. */
    assert_peers(1, 5, 1, 6, (int[]){2}, (int[]){0});
}

static bool contains(const int *list, int count, int value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* True if the lists of rank 0 name different ranks and not rank 0, by comparing all. */
static bool look(int ranks, int count, int stride)
{
    int sends[RANKS_MAX], receives[RANKS_MAX];
    msgrate_peers_list(0, ranks, count, stride, sends, receives);
    bool good = !contains(sends, count, 0) && !contains(receives, count, 0);
    for (int i = 1; i < count; i++)
        good = good && !contains(sends, i, sends[i]) && !contains(receives, i, receives[i]);
    return good;
}

TEST(distinct_is_what_the_lists_show)
{
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++)
        for (int count = 1; count < RANKS_MAX; count++)
            for (int stride = 1; stride <= RANKS_MAX + 3; stride++) {
                const bool distinct = msgrate_peers_distinct(ranks, count, stride);
                assert_int_equal(distinct, look(ranks, count, stride));
                if (count >= ranks)
                    assert_false(distinct);
                if (stride == 1)
                    assert_int_equal(distinct, count < ranks);
            }
}

TEST(partners_are_in_the_other_half)
{
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++)
        for (int rank = 0; rank < ranks; rank++) {
            const int partner = msgrate_partner(rank, ranks);
            if (ranks % 2 != 0 && rank == ranks - 1) {
                assert_int_equal(partner, -1);
                continue;
            }
            assert_int_equal(abs(partner - rank), ranks / 2);
            assert_int_equal(msgrate_partner(partner, ranks), rank);
        }
}

/* ---- peers on other nodes -------------------------------------------------------------------- */

/* The ranks of each node; the nodes' ranks follow each other. */
struct nodes {
    int sizes[RANKS_MAX];
    int count, ranks, peers;
    int asked; /* the number of strides that count_equal_nodes was asked for */
};

static int node_of(const struct nodes *nodes, int rank)
{
    int node = 0;
    for (; rank >= nodes->sizes[node]; node++)
        rank -= nodes->sizes[node];
    return node;
}

/* Counts all peers of all ranks that are on the rank's own node, one by one. */
static int64_t count_within(const struct nodes *nodes, int stride)
{
    int sends[RANKS_MAX], receives[RANKS_MAX];
    int64_t within = 0;
    for (int rank = 0; rank < nodes->ranks; rank++) {
        msgrate_peers_list(rank, nodes->ranks, nodes->peers, stride, sends, receives);
        for (int i = 0; i < nodes->peers; i++)
            within += node_of(nodes, sends[i]) == node_of(nodes, rank);
    }
    return within;
}

/* msgrate_within_fn */
static void count_nodes(void *context, int first, int strides, int64_t *within)
{
    for (int i = 0; i < strides; i++)
        within[i] = count_within(context, first + i);
}

/* msgrate_within_fn for nodes that all have sizes[0] ranks. */
static void count_equal_nodes(void *context, int first, int strides, int64_t *within)
{
    struct nodes *const nodes = context;
    int sends[RANKS_MAX], receives[RANKS_MAX];
    for (int i = 0; i < strides; i++) {
        within[i] = 0;
        for (int rank = 0; rank < nodes->sizes[0]; rank++) {
            msgrate_peers_list(rank, nodes->ranks, nodes->peers, first + i, sends, receives);
            for (int peer = 0; peer < nodes->peers; peer++)
                within[i] += nodes->count * (sends[peer] < nodes->sizes[0]);
        }
    }
    nodes->asked += strides;
}

/* A million ranks on nodes of 64: stride 64 is best, and few larger ones are tried. */
TEST(the_search_ends_early_on_many_ranks)
{
    struct nodes nodes = {.sizes = {64}, .count = 1 << 14, .ranks = 1 << 20, .peers = 6};
    assert_int_equal(msgrate_peers_stride(nodes.ranks, nodes.peers, count_equal_nodes, &nodes), 64);
    assert_in_range(nodes.asked, 64, 1024);
}

/* Makes nodes of `size` ranks (0: of random sizes); the last node has the ranks that are left. */
static struct nodes make_nodes(int ranks, int size, int peers, struct random *random)
{
    struct nodes nodes = {.ranks = ranks, .peers = peers};
    for (int left = ranks; left > 0; left -= nodes.sizes[nodes.count++]) {
        const int wanted = size > 0 ? size : 1 + (int)random_below(random, (size_t)ranks);
        nodes.sizes[nodes.count] = wanted < left ? wanted : left;
    }
    return nodes;
}

/* msgrate_peers_stride finds the best of all strides. */
static void assert_best(struct nodes *nodes)
{
    int best = 0;
    int64_t min_within = INT64_MAX;
    for (int stride = 1; stride < nodes->ranks; stride++) {
        if (!msgrate_peers_distinct(nodes->ranks, nodes->peers, stride))
            continue;
        const int64_t within = count_within(nodes, stride);
        if (within < min_within) {
            min_within = within;
            best = stride;
        }
    }
    assert_int_equal(msgrate_peers_stride(nodes->ranks, nodes->peers, count_nodes, nodes), best);
}

TEST(strides_put_peers_on_other_nodes)
{
    struct random random = random_from(1);
    for (int ranks = 2; ranks <= RANKS_MAX; ranks += ranks < 20 ? 1 : 5)
        for (int peers = 1; peers < ranks; peers += peers < 7 ? 1 : 5)
            for (int size = 0; size <= ranks; size += size < 5 ? 1 : 4) {
                struct nodes nodes = make_nodes(ranks, size, peers, &random);
                assert_best(&nodes);
            }
}

/* The wrong messages of a buffer, taken for what `sender` sent to `receiver`. */
static int64_t count_wrong(struct msgrate_messages messages, unsigned char *buffer,
                           int64_t iteration, int sender, int receiver)
{
    const struct bc_run run = {.job.rank = receiver};
    messages.receives = &sender;
    return msgrate_verify(&run, &messages, buffer, iteration);
}

/* A wrong iteration, sender, receiver or place makes a message wrong, and so does a wrong byte. */
TEST(wrong_messages_are_counted)
{
    const struct bc_run run = {.job.rank = 2, .settings.check = true};
    const struct msgrate_messages messages = {
        .count = 5, .bytes = 3, .npeers = 1, .sends = (const int[]){3}};
    unsigned char *const buffer = msgrate_allocate(&messages);
    msgrate_write(&run, &messages, buffer, 7);
    assert_int_equal(count_wrong(messages, buffer, 7, 2, 3), 0);
    assert_int_equal(count_wrong(messages, buffer, 6, 2, 3), 5);
    assert_int_equal(count_wrong(messages, buffer, 7, 1, 3), 5);
    assert_int_equal(count_wrong(messages, buffer, 7, 2, 2), 5);
    memcpy(buffer + 3, buffer, 3);
    assert_int_equal(count_wrong(messages, buffer, 7, 2, 3), 1);
    buffer[14] ^= 0x10;
    assert_int_equal(count_wrong(messages, buffer, 7, 2, 3), 2);
    bc_free_buffer(buffer);
}
