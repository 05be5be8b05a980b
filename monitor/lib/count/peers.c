/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/peers.h"

#include <stdlib.h>

bool peer_table_make(struct peer_table *table)
{
    table->peers = calloc(PEERS_MAX + 1, sizeof *table->peers);
    table->indexes.slots = calloc(1 << PEERS_BITS, sizeof *table->indexes.slots);
    table->indexes.bits = PEERS_BITS;
    table->lightest = calloc(PEERS_MAX, sizeof *table->lightest);
    return table->peers != NULL && table->indexes.slots != NULL && table->lightest != NULL;
}

void peer_table_free(struct peer_table *table)
{
    free(table->peers);
    free(table->indexes.slots);
    free(table->lightest);
}

/* Moves the first entry of the heap down to its place. */
static void sift_down(struct light_peer *heap, int place)
{
    const struct light_peer moved = heap[place];
    for (int child; (child = 2 * place + 1) < PEERS_MAX; place = child) {
        if (child + 1 < PEERS_MAX && heap[child + 1].weight < heap[child].weight)
            child++;
        if (heap[child].weight >= moved.weight)
            break;
        heap[place] = heap[child];
    }
    heap[place] = moved;
}

static void make_heap(struct peer_table *table)
{
    for (int i = 0; i < PEERS_MAX; i++)
        table->lightest[i] = (struct light_peer){table->peers[i + 1].weight, i + 1};
    for (int place = PEERS_MAX / 2 - 1; place >= 0; place--)
        sift_down(table->lightest, place);
}

/* Returns the index of the lightest peer. Weights only grow, so the first entry of the heap with
   its present weight is it. */
static int32_t find_lightest(const struct peer_table *table)
{
    struct light_peer *const first = table->lightest;
    int64_t weight;
    while ((weight = table->peers[first->index].weight) > first->weight) {
        first->weight = weight;
        sift_down(first, 0);
    }
    return first->index;
}

static void add_amounts(struct peer_amounts *sum, const struct peer_amounts *amounts)
{
    sum->messages += amounts->messages;
    sum->bytes += amounts->bytes;
    sum->ticks += amounts->ticks;
}

/* Gives the lightest peer's index to a new peer. */
static int32_t replace_lightest(struct peer_table *table, int32_t number)
{
    if (table->rest.missed == 0)
        make_heap(table);
    const int32_t index = find_lightest(table);
    struct peer *const peer = &table->peers[index];
    for (int way = 0; way < PEER_WAYS; way++)
        add_amounts(&table->rest.amounts[way], &peer->amounts[way]);
    (void)handle_remove(&table->indexes, (uint64_t)peer->number);
    *peer = (struct peer){.number = number, .weight = peer->weight, .missed = peer->weight};
    table->rest.missed = peer->missed;
    return index;
}

/* Returns the index of a peer; 0 if there is none and, without a message, there shall be none. */
static int32_t find_or_add(struct peer_table *table, int32_t number, bool has_message)
{
    int32_t index = handle_find(&table->indexes, (uint64_t)number);
    if (index != HANDLE_UNKNOWN || !has_message)
        return index != HANDLE_UNKNOWN ? index : 0;
    if (table->used < PEERS_MAX) {
        index = ++table->used;
        table->peers[index].number = number;
    } else {
        index = replace_lightest(table, number);
    }
    (void)handle_set(&table->indexes, (uint64_t)number, index);
    return index;
}

void peer_table_add(struct peer_table *table, int32_t number, enum peer_way way,
                    const struct peer_amounts *amounts)
{
    if (table->peers[table->latest].number != number)
        table->latest = find_or_add(table, number, amounts->messages > 0);
    struct peer *const peer = table->latest != 0 ? &table->peers[table->latest] : &table->rest;
    add_amounts(&peer->amounts[way], amounts);
    peer->weight += amounts->bytes + amounts->messages;
}
