/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/memory/cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

size_t bc_cache_line_bytes(void)
{
    long bytes = 0;
#ifdef _SC_LEVEL1_DCACHE_LINESIZE
    bytes = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
#endif
    return bytes >= (long)sizeof(double) ? (size_t)bytes : 64;
}

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

/* The specified recurrence alone is not enough: on AMD Zen 5, lines in the level-2 cache of 1 MiB
   survive 16 MiB of it, and many survive a buffer of the last-level cache's size. The prefetcher
   has time to bring every line before it is needed, and prefetched lines seem to replace one
   another first. Reads in the same order at the same pace don't evict lines either; reads in
   scattered order do. After one scattered pass up to a quarter of the last-level cache's lines were
   left, after two far fewer (tests/machine/cache.c). */
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
