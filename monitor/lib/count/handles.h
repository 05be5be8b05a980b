/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State shared by the wrappers of all threads: the monitor's lock, maps from MPI handles to small
 * numbers, and pools of such numbers.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Lock of the monitor, taken only at MPI_THREAD_MULTIPLE: below that level no two threads call
   MPI at a time. It is never held during an MPI call. */
extern bool monitor_lock_needed; /* true until MPI has been initialised, then set once */
extern bool monitor_lock_taken;

void monitor_lock_wait(void);

static inline void monitor_lock(void)
{
    if (__builtin_expect(monitor_lock_needed, 0) &&
        __atomic_exchange_n(&monitor_lock_taken, true, __ATOMIC_ACQUIRE))
        monitor_lock_wait();
}

static inline void monitor_unlock(void)
{
    if (monitor_lock_needed)
        __atomic_store_n(&monitor_lock_taken, false, __ATOMIC_RELEASE);
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Returns Fowler, Noll and Vo's hash (FNV-1a, RFC 9923) of these bytes, continued from so_far. */
static inline uint64_t hash(uint64_t so_far, const void *data, size_t length)
{
    const unsigned char *const bytes = data;
    for (size_t i = 0; i < length; i++)
        so_far = (so_far ^ bytes[i]) * UINT64_C(0x100000001b3);
    return so_far;
}

/* The bits of a handle, which is a number in some MPI libraries and a pointer in others. */
#define HANDLE_KEY(Type, name)                                                                     \
    static inline uint64_t name(Type handle)                                                       \
    {                                                                                              \
        uint64_t key = 0;                                                                          \
        memcpy(&key, &handle, sizeof handle);                                                      \
        return key;                                                                                \
    }
HANDLE_KEY(MPI_Comm, communicator_key)
HANDLE_KEY(MPI_Win, window_key)
HANDLE_KEY(MPI_Request, request_key)
HANDLE_KEY(MPI_Message, message_key)
HANDLE_KEY(MPI_Datatype, datatype_key)
#undef HANDLE_KEY

/* Returns the bucket of a key among 2^bits (multiplicative hashing: Knuth, The Art of Computer
   Programming, 6.4). */
static inline uint32_t key_bucket(uint64_t key, int bits)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits));
}

/* Returns the entry of a key, not 0, in a table of 2^bits entries that begin with their keys
   (open addressing), or the empty entry for it, whose key is 0. */
static inline void *table_entry(void *entries, size_t bytes, int bits, uint64_t key)
{
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    for (uint32_t i = key_bucket(key, bits);; i = (i + 1) & mask) {
        uint64_t *const entry = (void *)((char *)entries + bytes * i);
        if (*entry == key || *entry == 0)
            return entry;
    }
}

/* Returns the entry, a new one if necessary, or NULL if three quarters of the table are used. */
static inline void *table_add(void *entries, size_t bytes, int bits, int *used, uint64_t key)
{
    uint64_t *const entry = table_entry(entries, bytes, bits, key);
    if (*entry == 0) {
        if (*used == 3 << (bits - 2))
            return NULL;
        ++*used;
        *entry = key;
    }
    return entry;
}

/* Map from keys to numbers: a table whose keys are one more than the map's. Needs the lock. */
struct handle_map {
    struct handle_slot {
        uint64_t key;
        int32_t value;
    } * slots;
    int bits;
    int used;
};

#define HANDLE_MAP(Bits)                                                                           \
    {                                                                                              \
        .slots = (struct handle_slot[1 << (Bits)]){{0}}, .bits = (Bits)                            \
    }

enum { HANDLE_UNKNOWN = -1 };

static inline struct handle_slot *handle_slot_of(const struct handle_map *map, uint64_t key)
{
    return table_entry(map->slots, sizeof *map->slots, map->bits, key + 1);
}

static inline int handle_find(const struct handle_map *map, uint64_t key)
{
    const struct handle_slot *const slot = handle_slot_of(map, key);
    return slot->key != 0 ? slot->value : HANDLE_UNKNOWN;
}

/* Sets the key's value, 0 or more. False if the map is full. */
static inline bool handle_set(struct handle_map *map, uint64_t key, int value)
{
    struct handle_slot *const slot =
        table_add(map->slots, sizeof *slot, map->bits, &map->used, key + 1);
    if (slot != NULL)
        slot->value = value;
    return slot != NULL;
}

/* Removes the key; returns its value, or HANDLE_UNKNOWN. */
int handle_remove(struct handle_map *map, uint64_t key);

enum { NONE = 0 };

/* Pool of the numbers from 1 to max. Numbers given back are reused first. Needs the lock. */
struct pool {
    int32_t *given_back; /* room for max */
    int32_t max, given_back_count;
    int32_t used; /* greater numbers were never given out */
};

/* Returns a number, or NONE. */
static inline int32_t pool_take(struct pool *pool)
{
    if (pool->given_back_count > 0)
        return pool->given_back[--pool->given_back_count];
    return pool->used < pool->max ? ++pool->used : NONE;
}

static inline void pool_give_back(struct pool *pool, int32_t number)
{
    pool->given_back[pool->given_back_count++] = number;
}

static inline void pool_clear(struct pool *pool) { pool->given_back_count = pool->used = 0; }
