/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers of a process: exact counts, the sketch of more peers than there is room for, and pairs of
   ranks of a report. Calls no MPI function. */
#include "helpers.h"

#include "monitor/lib/report/pairs.h"

#include <stdlib.h>
#include <unistd.h>

#define MIB (1024.0 * 1024.0)

static struct peer_table table;

static int set_up(void **state)
{
    table = (struct peer_table){0};
    return peer_table_make(&table) ? 0 : -1;
}

static int tear_down(void **state)
{
    peer_table_free(&table);
    return 0;
}

static void send(int32_t peer, int64_t bytes, uint64_t ticks)
{
    const struct peer_amounts message = {1, bytes, ticks};
    peer_table_add(&table, peer, PEER_SENDS, &message);
}

/* Returns a peer's amounts; 0 if the table lacks it. */
static struct peer_amounts sent_to(int32_t peer)
{
    static const struct peer_amounts none;
    const int index = handle_find(&table.indexes, (uint64_t)peer);
    return index == HANDLE_UNKNOWN ? none : table.peers[index].amounts[PEER_SENDS];
}

/* Bytes of memory in use by this process. */
static double resident(void)
{
    char text[128], *end;
    FILE *const file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    (void)strtol(text, &end, 10); /* all pages */
    const long pages = strtol(end, NULL, 10);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

TEST(as_many_as_there_is_room_for_are_exact)
{
    for (int round = 0; round < 2; round++)
        for (int32_t peer = PEERS_MAX; peer > 0; peer--)
            send(peer, peer, 1);
    for (int32_t peer = 1; peer <= PEERS_MAX; peer++) {
        assert_int_equal(sent_to(peer).messages, 2);
        assert_int_equal(sent_to(peer).bytes, 2 * peer);
        assert_int_equal(sent_to(peer).ticks, 2);
    }
    assert_int_equal(table.rest.missed, 0);
}

/* 4 MiB are promised. */
TEST(memory_of_10000_peers)
{
    const double before = resident();
    for (int32_t peer = 1; peer <= 10000; peer++)
        send(peer, 8, 1);
    const double used_mib = (resident() - before) / MIB;
    printf("10,000 peers: %.1f MiB\n", used_mib);
    assert_true(used_mib < 2.5);
}

/* Metwally et al., theorems 1 to 3: a heavy peer is there, and what it lacks is within the bound.
 */
TEST(heavy_peers_survive_beyond_the_room)
{
    enum { MANY = 5 * PEERS_MAX / 2, HEAVY = 100, ROUNDS = 4, HEAVY_BYTES = 5000 };
    static int64_t truth[MANY + 1];
    int64_t weight = 0, bytes = 0;
    uint64_t random = 1;
    for (int i = 0; i < ROUNDS * MANY; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int32_t peer = (int32_t)(1 + (random >> 33) % MANY);
        const int64_t size = peer <= HEAVY ? HEAVY_BYTES : (int64_t)(random >> 20 & 7);
        send(peer, size, 1);
        truth[peer] += size;
        weight += size + 1;
        bytes += size;
    }
    int64_t counted = table.rest.amounts[PEER_SENDS].bytes;
    uint64_t ticks = table.rest.amounts[PEER_SENDS].ticks;
    for (int i = 1; i <= table.used; i++) {
        const struct peer *const peer = &table.peers[i];
        counted += peer->amounts[PEER_SENDS].bytes;
        ticks += peer->amounts[PEER_SENDS].ticks;
        assert_true(peer->missed <= table.rest.missed);
        assert_true(peer->amounts[PEER_SENDS].bytes <= truth[peer->number]);
        assert_true(truth[peer->number] <= peer->amounts[PEER_SENDS].bytes + peer->missed);
        assert_true(truth[peer->number] <= peer->weight);
    }
    for (int32_t peer = 1; peer <= HEAVY; peer++)
        assert_true(truth[peer] < 5 * table.rest.missed || sent_to(peer).bytes > 0);
    assert_int_equal(counted, bytes);
    assert_int_equal(ticks, ROUNDS * MANY);
    assert_true(table.rest.missed > 0 && table.rest.missed <= weight / PEERS_MAX);
    /* Time of a peer that isn't there any more makes no room for it. */
    const int32_t latest = table.peers[table.latest].number;
    int32_t gone = HEAVY + 1;
    while (sent_to(gone).messages > 0)
        gone++;
    peer_table_add(&table, gone, PEER_SENDS, &(struct peer_amounts){.ticks = 5});
    assert_int_equal(sent_to(gone).ticks, 0);
    assert_int_equal(sent_to(latest).ticks > 0, true);
    assert_int_equal(table.rest.amounts[PEER_SENDS].ticks + 1 > 5, true);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static int64_t bytes_in(const struct pairs *pairs)
{
    int64_t bytes = pairs->rest.amounts[PEER_SENDS].bytes;
    for (int i = 0; i < pairs->count; i++)
        bytes += pairs->list[i].amounts[PEER_SENDS].bytes;
    return bytes;
}

/* Half of the peers by time, half by bytes, then the rest and other jobs. */
TEST(pairs_of_a_rank)
{
    for (int32_t rank = 0; rank < 200; rank++)
        send(rank + 1, rank, 1000 - (uint64_t)rank);
    send(PEER_OTHER, 7, 1);
    struct pairs pairs;
    assert_true(pairs_of_table(&table, 5, 1.0, &pairs));
    assert_int_equal(pairs.count, PAIRS_OF_RANK + 2);
    for (int i = 0; i < PAIRS_OF_RANK; i++) {
        const int32_t peer = i < PAIRS_OF_RANK / 2 ? i : 200 - PAIRS_OF_RANK + i;
        assert_int_equal(pairs.list[i].rank, 5);
        assert_int_equal(pairs.list[i].peer, peer);
        assert_int_equal(pairs.list[i].amounts[PEER_SENDS].bytes, peer);
    }
    assert_int_equal(pairs.list[PAIRS_OF_RANK].peer, PAIR_REST);
    assert_int_equal(pairs.list[PAIRS_OF_RANK].amounts[PEER_SENDS].messages, 200 - PAIRS_OF_RANK);
    assert_int_equal(pairs.list[PAIRS_OF_RANK + 1].peer, PAIR_OTHER_JOBS);
    assert_int_equal(bytes_in(&pairs), 199 * 200 / 2 + 7);
    MPIX_Monitor_row row;
    int place = 0, rows = 0;
    while (pairs_next_row(&pairs, &place, &row))
        rows++;
    assert_int_equal(rows, PAIRS_OF_RANK + 2);
    assert_string_equal(row.kind, "peer");
    assert_string_equal(row.operation, "sends (other jobs)");
    assert_int_equal(row.peer, MPIX_MONITOR_NA);
    assert_int_equal(row.bytes, 7);
    assert_int_equal(row.completed, MPIX_MONITOR_NA);
    pairs_free(&pairs);
}

enum { RANKS = 2000, OF_EACH = PAIRS_OF_RANK };

/* Returns the pairs of half of the ranks, from this one on. */
static struct pairs pairs_of_half(int first)
{
    struct pairs pairs = {.count = RANKS / 2 * OF_EACH};
    pairs.list = calloc((size_t)pairs.count, sizeof *pairs.list);
    for (int i = 0; i < pairs.count; i++) {
        const int peer = i % OF_EACH;
        pairs.list[i] = (struct pair){.rank = first + i / OF_EACH, .peer = peer};
        pairs.list[i].amounts[PEER_SENDS] = (struct pair_amounts){1, peer == 9 ? 1000 : 1, 1e-6};
    }
    return pairs;
}

/* Of more ranks than there is room for, the heaviest pairs stay; the others are one sum. */
TEST(pairs_of_many_ranks)
{
    struct pairs sum = pairs_of_half(RANKS / 2), more = pairs_of_half(0);
    assert_true(pairs_merge(&sum, &more));
    pairs_free(&more);
    assert_int_equal(sum.count, PAIRS_MAX);
    assert_int_equal(bytes_in(&sum), (int64_t)RANKS * (OF_EACH - 1 + 1000));
    int heavy = 0;
    for (int i = 0; i < sum.count; i++) {
        heavy += sum.list[i].amounts[PEER_SENDS].bytes == 1000;
        assert_true(i == 0 || sum.list[i].rank >= sum.list[i - 1].rank);
    }
    assert_int_equal(heavy, RANKS);
    assert_int_equal(sum.rest.amounts[PEER_SENDS].messages, RANKS * OF_EACH - PAIRS_MAX);
    pairs_free(&sum);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
