/*
 * Does the flush of common/machine/cache.h leave receive buffers cold, and does writing the send
 * buffers after it make those warm again? Three proofs:
 *
 *   l2     after a flush of the default size a walk over buffers costs at least
 *          0.8 of one that is known to miss the level-2 cache;
 *   llc    after a flush that is to empty the last-level cache, too, at least
 *          0.8 of one that is known to come from memory (clflush; x86 only);
 *   write  after a flush and a memset of the buffers, what a warm walk costs,
 *          and at most 0.6 of a walk after the flush alone.
 *
 * usage: cache_flush_test l2|llc|write [--without]
 *
 * --without leaves out what is to be proved: the flush (one of 0 bytes), or the
 * memset. A test that is worth something then finds that no claim holds.
 *
 * Every walk is over the same lines in the same random order, and each address depends on the line
 * before, so neither out-of-order execution nor a stream prefetcher hides a miss. For l2 and llc
 * each line lies in a page of its own: where lines share pages a prefetcher brings some during the
 * walk, and how many depends on what it saw before, which differs after flush and clflush.
 *
 * Cases are taken in turn, but in blocks, of which the second half counts: a cache protects lines
 * by what became of them earlier, and a benchmark has only flushes in its past. With single cases
 * in turn, the other cases' evictions make a flush work that by itself doesn't.
 */
#include "common/machine/cache.h"
#include "common/clock/clock.h"
#include "common/stats/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

/* What the message rates flush with. */
#define DEFAULT_BYTES ((size_t)16 << 20)

enum { LINE_BYTES = 64, PAGE_BYTES = 4096 };
enum { PAGE_LINES = PAGE_BYTES / LINE_BYTES };
enum { MAX_ROUNDS = 25, MAX_BLOCK = 40 };
enum { FAILED = 1, WRONG_USAGE = 2, SKIPPED = 77 };
enum { WARM, COLD, PROVED, CASES };

static const double TIME_LIMIT_S = 1.0; /* of one size; one round at least */

/* In lines. The default of the message rate, 6 peers of 128 messages of 8
   bytes; and 64 KiB, more than a level-1 cache holds. */
static const size_t COUNTS[] = {6 * 128 * 8 / LINE_BYTES, 64 * 1024 / LINE_BYTES};

/* Memory full of zeros, and the offsets of lines of it in random order. */
struct lines {
    unsigned char *memory;
    size_t bytes;
    uint32_t *order;
    size_t count;
};

struct bed {
    struct lines target;
    struct lines evictor; /* four times the level-2 cache; proof l2 only */
    struct bc_cache_flush flush;
    bool without;
};

struct result {
    double line_ns[CASES]; /* the medians of the rounds' medians */
    double of_warm;        /* PROVED over WARM, the median of the rounds */
    double of_cold;        /* PROVED over COLD, likewise */
};

struct proof {
    const char *name;
    const char *after;                  /* what PROVED is a walk after */
    int (*set_up)(struct bed *bed);     /* what main returns, or 0 */
    void (*make_cold)(struct bed *bed); /* before a walk that is cold */
    void (*prove)(struct bed *bed);     /* before the walk that is proved */
    size_t pitch_bytes;                 /* from line to line */
    int block;                          /* walks of a case before the next */
    int claims;                         /* of a size */
    /* The number of claims that hold. */
    int (*judge)(const struct result *result, const struct bed *bed);
};

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252; /* xorshift64, Marsaglia 2003 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A line every pitch_bytes: side by side, or one in a page, anywhere but in its
   first two lines, which are left to settle(). */
static bool make_lines(struct lines *lines, size_t count, size_t pitch_bytes)
{
    *lines = (struct lines){.count = count, .bytes = count * pitch_bytes};
    const size_t pages = (lines->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    lines->memory = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES);
    lines->order = malloc(count * sizeof *lines->order);
    if (lines->memory == NULL || lines->order == NULL)
        return false;
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
    return true;
}

static void free_lines(struct lines *lines)
{
    free(lines->memory);
    free(lines->order);
}

/* The zero that a line holds is part of the next line's address. The order is
   not in the lines themselves, as a memset would destroy it. */
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

/* Brings back, in every case alike, what a walk needs besides the lines: its
   code, the clock, the order, and the address translations, for which the first
   line of every page is read. What is left to differ is the lines. */
static void settle(const struct lines *target)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < target->bytes; i += PAGE_BYTES)
        sum += target->memory[i];
    for (size_t i = 0; i < target->count; i++)
        sum += target->order[i];
    __asm__ volatile("" : : "r"(sum) : "memory");
    static unsigned char memory[LINE_BYTES];
    static uint32_t order[8];
    timed_walk_ns(&(struct lines){memory, sizeof memory, order, 8});
}

static void nothing(struct bed *bed) { (void)bed; }

static void evict(struct bed *bed) { walk(&bed->evictor); }

static void flush_lines(struct bed *bed)
{
#ifdef __x86_64__
    for (size_t i = 0; i < bed->target.count; i++)
        _mm_clflush(bed->target.memory + bed->target.order[i]);
    _mm_mfence();
#else
    (void)bed;
#endif
}

static void flush(struct bed *bed) { bc_cache_flush_run(&bed->flush); }

static void flush_and_write(struct bed *bed)
{
    bc_cache_flush_run(&bed->flush);
    if (!bed->without)
        memset(bed->target.memory, 0, bed->target.bytes);
}

/* The median over a block of the walk's time, in ns a line. */
static double block_ns(struct bed *bed, int block, void (*prepare)(struct bed *))
{
    double samples[MAX_BLOCK];
    for (int i = 0; i < block; i++) {
        /* As an iteration uses them: written by the messages, then read. */
        for (size_t l = 0; l < bed->target.count; l++)
            memset(bed->target.memory + bed->target.order[l], 0, LINE_BYTES);
        walk(&bed->target);
        prepare(bed);
        settle(&bed->target);
        samples[i] = timed_walk_ns(&bed->target);
    }
    const int skipped = block / 2;
    return bc_median(samples + skipped, (size_t)(block - skipped)) / (double)bed->target.count;
}

static struct result measure(struct bed *bed, const struct proof *proof)
{
    void (*const prepare[CASES])(struct bed *) = {nothing, proof->make_cold, proof->prove};
    double line_ns[CASES][MAX_ROUNDS], of_warm[MAX_ROUNDS], of_cold[MAX_ROUNDS];
    size_t rounds = 0;
    const int64_t end_ns = bc_now_ns() + (int64_t)(TIME_LIMIT_S * 1e9);
    do {
        for (int c = 0; c < CASES; c++)
            line_ns[c][rounds] = block_ns(bed, proof->block, prepare[c]);
        /* By round, as neighbours on the machine change the caches over seconds. */
        of_warm[rounds] = line_ns[PROVED][rounds] / line_ns[WARM][rounds];
        of_cold[rounds] = line_ns[PROVED][rounds] / line_ns[COLD][rounds];
        rounds++;
    } while (rounds < MAX_ROUNDS && bc_now_ns() < end_ns);

    struct result result = {.of_warm = bc_median(of_warm, rounds),
                            .of_cold = bc_median(of_cold, rounds)};
    for (int c = 0; c < CASES; c++)
        result.line_ns[c] = bc_median(line_ns[c], rounds);
    printf("%s: %zu lines, ns a line: warm %.2f, cold %.2f, after %s %.2f "
           "(%.3f of warm, %.3f of cold; %zu rounds)\n",
           proof->name, bed->target.count, result.line_ns[WARM], result.line_ns[COLD], proof->after,
           result.line_ns[PROVED], result.of_warm, result.of_cold, rounds);
    return result;
}

static int claim(const char *what, bool holds)
{
    printf("  %s: %s\n", what, holds ? "holds" : "FAILS");
    return holds;
}

static int judge_cold(const struct result *result, const struct bed *bed)
{
    if (bed->evictor.count > 0) {
        /* Is the reference what it is taken for? Of the evictor's own accesses at least three
           quarters miss the level-2 cache, whatever that keeps. Half of their cost is asked, as
           their address translations cost more. */
        double miss_ns = INFINITY;
        for (int i = 0; i < 20; i++)
            miss_ns = fmin(miss_ns, timed_walk_ns(&bed->evictor) / (double)bed->evictor.count);
        printf("  a miss costs %.2f ns\n", miss_ns);
        if (result->line_ns[COLD] < 0.5 * miss_ns)
            return claim("the cold walk misses", false);
        /* Or of a miss, where the cold walk costs more than its misses. */
        if (result->line_ns[PROVED] >= 0.8 * miss_ns)
            return claim("at least 0.8 of a miss", true);
    }
    return claim("at least 0.8 of cold", result->of_cold >= 0.8);
}

/* 4 ns a line: a memset of some KiB may be one string instruction, which leaves the lines in the
   level-2 cache and not in the first (glibc, from 2 KiB on). Such a hit costs 2 ns a line more on a
   fast processor, and 4 on a slow one; one in the last level at least 8. */
static int judge_warm(const struct result *result, const struct bed *bed)
{
    (void)bed;
    const double warm_ns = result->line_ns[WARM];
    return claim("1.25 of warm, or 4 ns more, at most",
                 result->of_warm <= 1.25 || result->line_ns[PROVED] <= warm_ns + 4.0) +
           claim("0.6 of cold at most", result->of_cold <= 0.6);
}

static int set_up_l2(struct bed *bed)
{
    long l2_bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    l2_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    if (l2_bytes <= 0) {
        printf("skipped: the level-2 cache's size is not known here\n");
        return SKIPPED;
    }
    if (!make_lines(&bed->evictor, 4 * (size_t)l2_bytes / LINE_BYTES, LINE_BYTES) ||
        !bc_cache_flush_create(&bed->flush, bed->without ? 0 : DEFAULT_BYTES)) {
        printf("skipped: no memory\n");
        return SKIPPED;
    }
    return 0;
}

static int set_up_llc(struct bed *bed)
{
#ifndef __x86_64__
    printf("skipped: clflush is x86's\n");
    return SKIPPED;
#endif
    const size_t bytes = bc_cache_llc_flush_bytes();
    printf("last-level cache: %zu bytes, flush: %zu\n", bc_cache_llc_bytes(), bytes);
    if (bytes == 0 || !bc_cache_flush_create(&bed->flush, bed->without ? 0 : bytes)) {
        printf("skipped: size not known, or no memory for it\n");
        return SKIPPED;
    }
    return 0;
}

static int set_up_write(struct bed *bed)
{
    if (!bc_cache_flush_create(&bed->flush, DEFAULT_BYTES)) {
        printf("skipped: no memory\n");
        return SKIPPED;
    }
    return 0;
}

/* A block of llc is short, as its flush may take half a second. */
static const struct proof PROOFS[] = {
    {"l2", "flush", set_up_l2, evict, flush, PAGE_BYTES, 40, 1, judge_cold},
    {"llc", "flush", set_up_llc, flush_lines, flush, PAGE_BYTES, 8, 1, judge_cold},
    {"write", "flush and memset", set_up_write, flush, flush_and_write, LINE_BYTES, 40, 2,
     judge_warm},
};

static int run(const struct proof *proof, bool without)
{
    struct bed bed = {.without = without};
    int status = proof->set_up(&bed);
    if (status == 0) {
        int holding = 0, claims = 0;
        for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
            if (!make_lines(&bed.target, COUNTS[i], proof->pitch_bytes))
                return SKIPPED;
            const struct result result = measure(&bed, proof);
            holding += proof->judge(&result, &bed);
            claims += proof->claims;
            free_lines(&bed.target);
        }
        printf("%s: %d of %d claims hold\n", proof->name, holding, claims);
        status = holding == claims ? 0 : FAILED;
    }
    bc_cache_flush_destroy(&bed.flush);
    free_lines(&bed.evictor);
    return status;
}

int main(int argc, char **argv)
{
    const bool without = argc == 3 && strcmp(argv[2], "--without") == 0;
    const struct proof *proof = NULL;
    for (size_t i = 0; i < sizeof PROOFS / sizeof *PROOFS; i++)
        if (argc >= 2 && strcmp(argv[1], PROOFS[i].name) == 0)
            proof = &PROOFS[i];
    if (proof == NULL || argc != 2 + without) {
        fprintf(stderr, "usage: cache_flush_test l2|llc|write [--without]\n");
        return WRONG_USAGE;
    }
    /* The cheapest clock that there is. */
    if (!bc_clock_select(BC_CLOCK_TSC))
        bc_clock_select(BC_CLOCK_MONOTONIC);
    return run(proof, without);
}
