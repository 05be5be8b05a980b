#include "monitor/neighbours.h"

#include "monitor/handles.h"

#include <stdlib.h>

bool neighbour_table_make(struct neighbour_table *table)
{
    *table = (struct neighbour_table){
        .neighbours = calloc(1 << NEIGHBOURS_BITS, sizeof *table->neighbours),
    };
    return table->neighbours != NULL;
}

void neighbour_table_free(struct neighbour_table *table)
{
    free(table->neighbours);
    *table = (struct neighbour_table){.neighbours = NULL};
}

enum neighbour_found neighbour_add(struct neighbour_table *table, int communicator, int kind,
                                   int destination, uint64_t burst)
{
    const uint64_t from = (uint64_t)communicator << 8 | (uint64_t)kind;
    const uint64_t key = (from << 32 | (uint32_t)destination) + 1;
    const uint32_t mask = (UINT32_C(1) << NEIGHBOURS_BITS) - 1;
    uint32_t place = handle_place(key, NEIGHBOURS_BITS);
    while (table->neighbours[place].key != key && table->neighbours[place].key != 0)
        place = (place + 1) & mask;
    struct neighbour *const neighbour = &table->neighbours[place];
    if (neighbour->key == 0) {
        if (table->used == NEIGHBOURS_MAX)
            return NEIGHBOUR_NO_ROOM;
        table->used++;
        *neighbour = (struct neighbour){key, burst};
        return NEIGHBOUR_NEW;
    }
    const bool again = neighbour->burst == burst;
    neighbour->burst = burst;
    return again ? NEIGHBOUR_AGAIN : NEIGHBOUR_KNOWN;
}
