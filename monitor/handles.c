#include "monitor/handles.h"

#include <sched.h>

bool monitor_lock_needed = true;
bool monitor_lock_taken;

void monitor_lock_wait(void)
{
    enum { SPINS = 100 }; /* after these the holder has probably lost its processor */
    for (int spins = 1; __atomic_exchange_n(&monitor_lock_taken, true, __ATOMIC_ACQUIRE); spins++)
        if (spins >= SPINS)
            (void)sched_yield();
}

bool handle_set(struct handle_map *map, uint64_t key, int value)
{
    const uint32_t i = handle_slot_of(map, key);
    if (!map->slots[i].taken) {
        if ((uint32_t)map->count >= (UINT32_C(1) << map->bits) / 4 * 3)
            return false;
        map->count++;
    }
    map->slots[i] = (struct handle_slot){.key = key, .value = value, .taken = true};
    return true;
}

int handle_remove(struct handle_map *map, uint64_t key)
{
    const uint32_t mask = (UINT32_C(1) << map->bits) - 1;
    uint32_t hole = handle_slot_of(map, key);
    if (!map->slots[hole].taken)
        return HANDLE_UNKNOWN;
    const int value = map->slots[hole].value;
    map->count--;
    /* Keys that were pushed past the hole move into it, so that no search ends at it (Knuth, 6.4,
       algorithm R). */
    for (uint32_t i = (hole + 1) & mask; map->slots[i].taken; i = (i + 1) & mask) {
        const uint32_t place = handle_place(map->slots[i].key, map->bits);
        if (((i - place) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole] = (struct handle_slot){0};
    return value;
}
