/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual machine: memory that all ranks share, a clock for each rank, and turns.
 *
 * Ranks are processes, of which exactly one runs at any moment: the one whose turn it is. It keeps
 * the turn while its clock runs ahead of the others', until it has to know what other ranks did up
 * to a time (world_settle) or waits for one of them (world_sleep). Then the rank that is furthest
 * behind gets the turn, the lowest of several. So everything depends on virtual times and ranks,
 * and nothing on how the kernel schedules processes. Since only one rank runs, shared memory needs
 * no locks.
 *
 * All functions but world_create are local to a rank. Memory has the same address on all ranks.
 */
#ifndef VIRTUAL_WORLD_H
#define VIRTUAL_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rank_state; /* of world.c */

/* State that the ranks of a launch share. */
struct world {
    int ranks;
    int launch;  /* number of this launch, from 0 */
    void *comms; /* of comm.c: the communicator of all ranks */
    char *free_bytes, *end;
    void *recycled[64]; /* lists of released pieces, by the power of two of their size */
    struct rank_state *of;
};

extern struct world *world;
extern int world_rank; /* this process's */

/* This rank's clock in ns; clock.h moves it. */
extern int64_t world_now_ns;

/* Makes the memory of a launch. In the parent of all ranks, before it forks them. */
void world_create(int ranks, int launch);
void world_destroy(void);

/* Becomes a rank, and returns when it has its first turn. */
void world_enter(int rank);

/* Ends this rank's turns for good; whether a rank has done so. */
void world_leave(void);
bool world_has_ended(int rank);

/* Memory that all ranks see, filled with zeros; ends the job where there is none. */
void *world_allocate(size_t bytes);
void world_release(void *memory, size_t bytes);

/* Returns when no other rank can do anything before `at_ns`, nor a lower one at that time. False if
   another rank woke this one up before: what this rank wanted to do has to be looked at again. */
bool world_settle(int64_t at_ns);

/* Returns when other ranks have done all that they do before this rank's time. */
void world_settle_now(void);

/* Returns when another rank has called world_wake for this one. */
void world_sleep(void);

/* Wakes a rank up, or does nothing if it neither sleeps nor settles. */
void world_wake(int rank);

/* Prints a message and ends the job. */
_Noreturn void world_abort(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* realloc, which ends the job without memory. */
void *world_grow(void *memory, size_t count, size_t size);

/* Pseudo-random numbers in [0, 1) (SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom
   Number Generators", OOPSLA 2014). `state` is any number. */
double world_random(uint64_t *state);

#endif
