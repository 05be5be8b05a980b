/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processors (hardware threads): those on which a rank may run, those of one core, and the size of
 * the last-level cache. The processors of a core share its execution units and caches, so ranks on
 * two of them slow each other down, although neither has to wait.
 *
 * Source: Linux's Documentation/ABI/stable/sysfs-devices-system-cpu (core_cpus_list, and
 * thread_siblings_list of kernels before 5.3; cache/indexN/size).
 */
#pragma once

#include <sched.h>
#include <stdbool.h>

/* Maximum number of processors of a Linux kernel, more than a cpu_set_t holds. */
enum { BC_PROCESSORS_MAX = 8192 };

/* A set of processors; all zeros is empty. */
struct bc_processors {
    cpu_set_t part[BC_PROCESSORS_MAX / CPU_SETSIZE];
};

static inline void bc_processors_add(struct bc_processors *processors, int processor)
{
    CPU_SET_S((size_t)processor, sizeof *processors, processors->part);
}

static inline bool bc_processors_have(const struct bc_processors *processors, int processor)
{
    return CPU_ISSET_S((size_t)processor, sizeof *processors, processors->part) != 0;
}

static inline int bc_processors_count(const struct bc_processors *processors)
{
    return CPU_COUNT_S(sizeof *processors, processors->part);
}

static inline void bc_processors_join(struct bc_processors *all, const struct bc_processors *more)
{
    CPU_OR_S(sizeof *all, all->part, all->part, more->part);
}

/* Reads the processors on which this process may run. False if they are not known. All functions
   here are local. */
bool bc_processors_read(struct bc_processors *processors);

/* Returns true if `all` has each processor of `part`. */
bool bc_processors_cover(const struct bc_processors *all, const struct bc_processors *part);

struct bc_cores {
    int count;                 /* cores with a processor that is online; 0: not known */
    int of[BC_PROCESSORS_MAX]; /* each processor's core, by the number of the core's lowest
                                  processor; -1: no such processor, or offline */
};

void bc_cores_read(struct bc_cores *cores);

/* Returns the cores that have a processor in `processors`; a processor whose core isn't known is
   taken as a core of its own. */
struct bc_processors bc_cores_of(const struct bc_cores *cores,
                                 const struct bc_processors *processors);
