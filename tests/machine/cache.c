/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cold and warm caches: the flush of common/memory/cache.h must leave buffers cold, and writing
 * must make them warm again. Walks over the lines of a buffer are timed:
 *
 *   l2     after a flush of the default size, beside walks that miss the level-2 cache, since four
 *          times that cache was read before
 *   llc    after a flush of the last-level cache, beside walks over lines that clflush has put out
 *          of all caches (x86 only)
 *   write  after a flush and a memset, beside walks after the flush alone
 *
 * For l2 and llc, warm walks are compared, too: they must be quicker.
 *
 * Every walk is over the same lines in the same random order, and each address depends on the line
 * before, so no prefetcher hides a miss. For l2 and llc each line has a page of its own, since a
 * prefetcher brings some lines of a shared page.
 *
 * Cases alternate in blocks, of which the second half counts: a cache protects lines by their past,
 * and a benchmark has only flushes in its past.
 */
#include "common/job/job.h"
#include "common/memory/cache.h"
#include "common/clock/clock.h"
#include "common/stats/stats.h"
#include "tests/machine/in_process.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

/* The default flush of msgrate. */
#define DEFAULT_BYTES ((size_t)16 << 20)

enum { LINE_BYTES = 64, PAGE_BYTES = 4096, PAGE_LINES = PAGE_BYTES / LINE_BYTES };
enum { BLOCK_MAX = 10, TURNS = 2 };

/* Lines of a buffer: 64 KiB, more than a level-1 cache holds. */
enum { LINES = 64 * 1024 / LINE_BYTES };

/* Memory full of zeros, and the offsets of lines of it in random order. */
struct lines {
    unsigned char *memory;
    size_t bytes;
    uint32_t *order;
    size_t count;
};

static struct lines target;
static struct lines evictor; /* four times the level-2 cache */
static struct bc_cache_flush flush;

/* Walks over the target, each after `prepare`. */
struct walks {
    void (*prepare)(void);
    int block;
};

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252; /* xorshift64, Marsaglia 2003 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A line every pitch_bytes: side by side, or one in a page, anywhere but in its first two lines,
   which are left to settle(). */
static void make_lines(struct lines *lines, size_t count, size_t pitch_bytes)
{
    *lines = (struct lines){.count = count, .bytes = count * pitch_bytes};
    const size_t pages = (lines->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    lines->memory = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES);
    lines->order = malloc(count * sizeof *lines->order);
    if (lines->memory == NULL || lines->order == NULL)
        in_process_not_here("no memory for the buffers");
    /* Untouched pages would all be one page of zeros, always in the cache. */
    memset(lines->memory, 0, lines->bytes);
    /* Shuffled as it is filled (Durstenfeld, Comm. ACM 7 (1964)). */
    for (size_t i = 0; i < count; i++) {
        size_t offset = i * pitch_bytes;
        if (pitch_bytes == PAGE_BYTES)
            offset += (2 + random_bits() % (PAGE_LINES - 2)) * LINE_BYTES;
        const size_t other = (size_t)(random_bits() % (i + 1));
        lines->order[i] = lines->order[other];
        lines->order[other] = (uint32_t)offset;
    }
}

static void make_flush(size_t bytes)
{
    if (bytes == 0 || !bc_cache_flush_create(&flush, bytes))
        in_process_not_here("the cache's size is not known, or there is no memory for the flush");
}

/* The zero that a line holds is part of the next line's address. The order is not in the lines
   themselves, as a memset would destroy it. */
__attribute__((noinline)) static void walk(const struct lines *lines)
{
    size_t zero = 0;
    for (size_t i = 0; i < lines->count; i++)
        zero = lines->memory[lines->order[i] + zero];
    __asm__ volatile("" : : "r"(zero) : "memory");
}

static double timed_walk_ns(const struct lines *lines)
{
    const int64_t start_ns = bc_now_ns();
    walk(lines);
    return (double)(bc_now_ns() - start_ns);
}

/* Brings back, in every case alike, what a walk needs besides the lines: its code, the clock, the
   order, and the address translations, for which the first line of every page is read. */
static void settle(void)
{
    static unsigned char memory[LINE_BYTES];
    static uint32_t order[8];
    uint32_t sum = 0;
    for (size_t i = 0; i < target.bytes; i += PAGE_BYTES)
        sum += target.memory[i];
    for (size_t i = 0; i < target.count; i++)
        sum += target.order[i];
    __asm__ volatile("" : : "r"(sum) : "memory");
    timed_walk_ns(&(struct lines){memory, sizeof memory, order, 8});
}

/* ---- what comes before a walk ---------------------------------------------------------------- */

static void nothing(void) {}

static void evict(void) { walk(&evictor); }

static void flush_lines(void)
{
#ifdef __x86_64__
    for (size_t i = 0; i < target.count; i++)
        _mm_clflush(target.memory + target.order[i]);
    _mm_mfence();
#endif
}

static void run_flush(void) { bc_cache_flush_run(&flush); }

static void flush_and_write(void)
{
    run_flush();
    memset(target.memory, 0, target.bytes);
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* The median over the second half of a block, in ns a line. */
static double block_ns(const struct walks *walks)
{
    double samples[BLOCK_MAX];
    for (int i = 0; i < walks->block; i++) {
        /* As an iteration uses them: written by the messages, then read. */
        for (size_t l = 0; l < target.count; l++)
            memset(target.memory + target.order[l], 0, LINE_BYTES);
        walk(&target);
        walks->prepare();
        settle();
        samples[i] = timed_walk_ns(&target);
    }
    const int skipped = walks->block / 2;
    return bc_median(samples + skipped, (size_t)(walks->block - skipped)) / (double)target.count;
}

static double ours_ns(void *context) { return block_ns((const struct walks *)context); }

static double bare_ns(void *context) { return block_ns((const struct walks *)context + 1); }

static void compare(const char *name, void (*ours)(void), void (*bare)(void), int block)
{
    struct walks walks[] = {{ours, block}, {bare, block}};
    in_process_pair(name, ours_ns, bare_ns, walks, TURNS);
}

void l2_pairs(void)
{
    if (target.count == 0) {
        long l2_bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
        l2_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
        if (l2_bytes <= 0)
            in_process_not_here("the level-2 cache's size is not known here");
        make_lines(&target, LINES, PAGE_BYTES);
        make_lines(&evictor, 4 * (size_t)l2_bytes / LINE_BYTES, LINE_BYTES);
        make_flush(DEFAULT_BYTES);
    }
    compare("after a flush and missing the level-2 cache", run_flush, evict, BLOCK_MAX);
    compare("warm and missing the level-2 cache", nothing, evict, BLOCK_MAX);
}

void llc_pairs(void)
{
#ifndef __x86_64__
    in_process_not_here("clflush is x86's");
#endif
    if (target.count == 0) {
        make_lines(&target, LINES, PAGE_BYTES);
        make_flush(bc_llc_flush_bytes());
    }
    /* Short, as such a flush may take half a second. */
    compare("after a flush of all caches and from memory", run_flush, flush_lines, 4);
    compare("warm and from memory", nothing, flush_lines, 4);
}

void write_pairs(void)
{
    if (target.count == 0) {
        make_lines(&target, LINES, LINE_BYTES);
        make_flush(DEFAULT_BYTES);
    }
    compare("after flush and memset and after a flush", flush_and_write, run_flush, BLOCK_MAX);
}
