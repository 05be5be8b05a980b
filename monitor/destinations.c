#include "monitor/destinations.h"

#include "monitor/handles.h"

enum destination_found destination_add(struct destination_table *table, int communicator, int kind,
                                       int rank, uint64_t burst)
{
    const uint64_t from = (uint64_t)communicator << 8 | (uint64_t)kind;
    const uint64_t key = (from << 32 | (uint32_t)rank) + 1;
    struct destination *const destination =
        table_entry(table->entries, sizeof *destination, DESTINATIONS_BITS, key);
    if (destination->key == 0) {
        if (table->used == DESTINATIONS_MAX)
            return DESTINATION_NO_ROOM;
        table->used++;
        *destination = (struct destination){key, burst};
        return DESTINATION_NEW;
    }
    const bool again = destination->burst == burst;
    destination->burst = burst;
    return again ? DESTINATION_AGAIN : DESTINATION_KNOWN;
}
