/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/handles.h"

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

int handle_remove(struct handle_map *map, uint64_t key)
{
    const uint32_t mask = (UINT32_C(1) << map->bits) - 1;
    struct handle_slot *hole = handle_slot_of(map, key);
    if (hole->key == 0)
        return HANDLE_UNKNOWN;
    const int value = hole->value;
    map->used--;
    /* Keys that were pushed past the hole move into it, so that no search ends at it (Knuth, 6.4,
       algorithm R). */
    for (uint32_t i = (uint32_t)(hole - map->slots + 1) & mask; map->slots[i].key != 0;
         i = (i + 1) & mask) {
        const uint32_t bucket = key_bucket(map->slots[i].key, map->bits);
        if (((i - bucket) & mask) >= ((i - (uint32_t)(hole - map->slots)) & mask)) {
            *hole = map->slots[i];
            hole = &map->slots[i];
        }
    }
    *hole = (struct handle_slot){0};
    return value;
}
