#include "common/memory/cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef COMMCOST_HAVE_HWLOC
#include <hwloc.h>

static size_t llc_bytes_from_hwloc(void)
{
    size_t bytes = 0;
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return 0;
    if (hwloc_topology_load(topology) == 0) {
        const hwloc_obj_type_t levels[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                           HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, levels[i], 0);
            if (cache != NULL && cache->attr->cache.size > bytes)
                bytes = (size_t)cache->attr->cache.size;
        }
    }
    hwloc_topology_destroy(topology);
    return bytes;
}
#endif

static size_t llc_bytes_from_sysconf(void)
{
    size_t bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const int levels[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                          _SC_LEVEL4_CACHE_SIZE};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const long size = sysconf(levels[i]);
        if (size > 0 && (size_t)size > bytes)
            bytes = (size_t)size;
    }
#endif
    return bytes;
}

size_t bc_cache_llc_bytes(void)
{
    size_t bytes = 0;
#ifdef COMMCOST_HAVE_HWLOC
    bytes = llc_bytes_from_hwloc();
#endif
    return bytes > 0 ? bytes : llc_bytes_from_sysconf();
}

size_t bc_cache_line_bytes(void)
{
    long bytes = 0;
#ifdef _SC_LEVEL1_DCACHE_LINESIZE
    bytes = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
#endif
    return bytes >= (long)sizeof(double) ? (size_t)bytes : 64;
}

size_t bc_cache_llc_flush_bytes(void) { return bc_cache_llc_bytes() * 3 / 2; }

bool bc_cache_flush_create(struct bc_cache_flush *flush, size_t bytes)
{
    *flush = (struct bc_cache_flush){.line_bytes = bc_cache_line_bytes()};
    if (bytes < sizeof *flush->values)
        return true;
    flush->values = malloc(bytes);
    if (flush->values == NULL)
        return false;
    flush->count = bytes / sizeof *flush->values;
    for (size_t i = 0; i < flush->count; i++)
        flush->values[i] = (double)(i + 1);
    return true;
}

/* Reads every cache line once, in the order of a linear congruential sequence of full period over
   the next power of two (Hull and Dobell, "Random Number Generators", SIAM Review 4 (1962)). */
static double read_scattered(const struct bc_cache_flush *flush)
{
    const size_t line_values = flush->line_bytes / sizeof *flush->values;
    const size_t lines = flush->count / line_values;
    size_t period = 1;
    while (period < lines)
        period *= 2;
    double sum = 0.0;
    size_t line = 0;
    for (size_t i = 0; i < period; i++) {
        line = (line * 1664525 + 1013904223) & (period - 1);
        if (line < lines)
            sum += flush->values[line * line_values];
    }
    return sum;
}

/* The specified recurrence alone is not enough: on AMD Zen 5 lines in use survive 16 MiB of it in
   the level-2 cache of 1 MiB, and many survive a buffer of the last-level cache's size. The
   prefetcher has time to bring every line before it is needed, and prefetched lines seem to replace
   one another first (reads in the same order at the same pace don't evict either; reads in
   scattered order do). After one scattered pass up to a quarter of the last-level cache's lines
   were left, after two far fewer (tests/this_machine/cache.c). */
void bc_cache_flush_run(struct bc_cache_flush *flush)
{
    double *const values = flush->values;
    if (flush->count == 0)
        return;
    double sum = read_scattered(flush);
    for (size_t i = 1; i < flush->count; i++)
        values[i] = values[i - 1] + 1.0;
    /* Keeps the compiler from removing writes that nothing reads. */
    __asm__ volatile("" : : "r"(values) : "memory");
    sum += read_scattered(flush);
    __asm__ volatile("" : : "r"(&sum) : "memory");
}

void bc_cache_flush_destroy(struct bc_cache_flush *flush)
{
    free(flush->values);
    *flush = (struct bc_cache_flush){0};
}
