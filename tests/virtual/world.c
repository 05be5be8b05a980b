/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/virtual/world.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Address space of a launch. Pages that nobody touches cost nothing. */
#define MEMORY_BYTES ((size_t)8 << 30)

enum state { READY, SLEEPING, ENDED };

struct rank_state {
    _Atomic int has_turn; /* a futex */
    enum state state;
    bool woken;
    int64_t clock_ns;  /* when it last gave its turn away */
    int64_t wanted_ns; /* the time for which it wants the turn */
};

struct world *world;
int world_rank;
int64_t world_now_ns;

/* ---- memory ---------------------------------------------------------------------------------- */

void world_create(int ranks, int launch)
{
    void *const memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        world_abort("no memory for the virtual machine");
    world = memory;
    *world = (struct world){
        .ranks = ranks,
        .launch = launch,
        .free_bytes = (char *)memory + 4096,
        .end = (char *)memory + MEMORY_BYTES,
    };
    world->of = world_allocate((size_t)ranks * sizeof *world->of);
    world->of[0].has_turn = 1;
}

void world_destroy(void) { (void)munmap(world, MEMORY_BYTES); }

/* Returns the power of two that holds `bytes` bytes; pages from a page on. */
static int size_class(size_t bytes)
{
    int class = 6;
    while ((size_t)1 << class < bytes)
        class ++;
    return class;
}

void *world_allocate(size_t bytes)
{
    const int class = size_class(bytes);
    void *memory = world->recycled[class];
    if (memory != NULL) {
        world->recycled[class] = *(void **)memory;
        memset(memory, 0, bytes);
        return memory;
    }
    const size_t size = (size_t)1 << class;
    const size_t align = size < 4096 ? size : 4096;
    memory = world->free_bytes + (-(uintptr_t)world->free_bytes & (align - 1));
    world->free_bytes = (char *)memory + size;
    if (world->free_bytes > world->end)
        world_abort("no memory for %zu bytes", bytes);
    return memory;
}

void world_release(void *memory, size_t bytes)
{
    if (memory == NULL)
        return;
    const int class = size_class(bytes);
    *(void **)memory = world->recycled[class];
    world->recycled[class] = memory;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void futex(_Atomic int *word, int operation, int value)
{
    (void)syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void wait_for_turn(struct rank_state *own)
{
    while (atomic_load_explicit(&own->has_turn, memory_order_acquire) == 0)
        futex(&own->has_turn, FUTEX_WAIT, 0);
    atomic_store_explicit(&own->has_turn, 0, memory_order_relaxed);
}

/* The rank that is furthest behind; -1: none is ready. */
static int next_rank(void)
{
    int next = -1;
    for (int rank = 0; rank < world->ranks; rank++)
        if (world->of[rank].state == READY &&
            (next < 0 || world->of[rank].wanted_ns < world->of[next].wanted_ns))
            next = rank;
    return next;
}

static void give_turn(int rank)
{
    atomic_store_explicit(&world->of[rank].has_turn, 1, memory_order_release);
    futex(&world->of[rank].has_turn, FUTEX_WAKE, 1);
}

/* Gives the turn away; returns when this rank has it again. */
static void yield_turn(struct rank_state *own)
{
    const int next = next_rank();
    if (next == world_rank)
        return;
    if (next < 0)
        world_abort("all ranks wait for one another");
    own->clock_ns = world_now_ns;
    give_turn(next);
    wait_for_turn(own);
}

void world_enter(int rank)
{
    world_rank = rank;
    world_now_ns = 0;
    wait_for_turn(&world->of[rank]);
}

void world_leave(void)
{
    world->of[world_rank].state = ENDED;
    const int next = next_rank();
    if (next >= 0)
        give_turn(next);
    for (int rank = 0; next < 0 && rank < world->ranks; rank++)
        if (world->of[rank].state == SLEEPING)
            world_abort("rank %d waits for ranks that have ended", rank);
}

bool world_has_ended(int rank) { return world->of[rank].state == ENDED; }

bool world_settle(int64_t at_ns)
{
    struct rank_state *const own = &world->of[world_rank];
    own->woken = false;
    own->wanted_ns = at_ns;
    own->state = READY;
    yield_turn(own);
    return !own->woken;
}

void world_settle_now(void)
{
    while (!world_settle(world_now_ns))
        continue;
}

void world_sleep(void)
{
    struct rank_state *const own = &world->of[world_rank];
    own->woken = false;
    own->state = SLEEPING;
    own->wanted_ns = INT64_MAX;
    yield_turn(own);
}

/* Ranks wake up at their own clocks: what happens to them then depends on what they wait for. */
void world_wake(int rank)
{
    struct rank_state *const other = &world->of[rank];
    if (rank == world_rank || other->state == ENDED || other->wanted_ns <= other->clock_ns)
        return;
    other->woken = true;
    other->state = READY;
    other->wanted_ns = other->clock_ns;
}

void world_abort(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "virtual MPI, rank %d at %.3f us: ", world_rank,
                  (double)world_now_ns / 1e3);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    _exit(1);
}

void *world_grow(void *memory, size_t count, size_t size)
{
    void *const grown = realloc(memory, count * size);
    if (grown == NULL)
        world_abort("no memory");
    return grown;
}

double world_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}
