/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of a process: memory of its node, /dev/shm, and its control groups. All functions are
 * local.
 *
 * Linux ends a process that takes more than its node or its control groups have. MPI libraries put
 * the memory that ranks of a node share into /dev/shm. If that is too small, some libraries give up
 * in MPI_Init with an error, and with others the kernel ends a process with SIGBUS at its first
 * access, without any message.
 *
 * Containers and batch jobs bound a process by its control groups: memory, and processor time. When
 * the processes of a group have used up its quota of processor time, the kernel stops them for the
 * rest of the period ("docker run --cpus=1.5"). The limits of all enclosing groups apply as well;
 * those outside a container's view can't be seen from inside.
 *
 * Source: Linux's Documentation/admin-guide/cgroup-v2.rst (memory.max, memory.current, memory.stat,
 * cpu.max), cgroup-v1/cgroups.rst, cgroup-v1/memory.rst, Documentation/scheduler/sched-bwc.rst
 * (cpu.cfs_quota_us, cpu.cfs_period_us), and cgroups(7) for /proc/self/cgroup.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Returns the bytes that this process may still take: the minimum of its node's available bytes,
   and of limit minus usage over its control groups. Cached pages of files don't count as usage,
   since the kernel reclaims them. INT64_MAX: not known. */
int64_t bc_memory_available(void);

/* Returns the free bytes in /dev/shm; INT64_MAX: not known. A signal handler may call it: statvfs
   is a bare system call in Linux's C libraries. */
int64_t bc_shared_memory_available(void);

/* Warns on stderr, if `speaks`, of a nearly full /dev/shm. From now on a SIGBUS while /dev/shm is
   full ends the process with that line and exit status 1. Call it before MPI_Init. */
void bc_shared_memory_watch(bool speaks);

/* ---- control groups -------------------------------------------------------------------------- */

/* The quota of one group. */
struct bc_quota {
    uint64_t device, group; /* device and inode of the group's folder, whatever its path */
    double processors;      /* processor time per wall-clock time */
    int64_t version;        /* of control groups: 1 or 2 */
    int64_t
        throttled; /* periods of the quota so far in which processes had to wait; -1: not known */
};

/* The quotas that bound a process, from the innermost group outwards. With more than BC_QUOTAS_MAX
   the outermost are left out. */
enum { BC_QUOTAS_MAX = 8 };
struct bc_quotas {
    struct bc_quota of[BC_QUOTAS_MAX];
    int64_t count;
};

void bc_quotas_read(struct bc_quotas *quotas);

/* Judgement of the quotas of one node. */
struct bc_quota_finding {
    double processors;        /* of all ranks together; INFINITY without a limit */
    struct bc_quota exceeded; /* the quota that allows each of its ranks the smallest share of a
                                 processor, if that is less than one */
    int ranks;                /* of the exceeded quota; 0: no quota is exceeded */
};

/* Judges the quotas of `count` ranks of one node: ranks share a quota if both have it. */
struct bc_quota_finding bc_quotas_judge(const struct bc_quotas *quotas, int count);

/* Returns the name of the file that sets a group's quota. */
const char *bc_quota_file(const struct bc_quota *quota);

/* ---- files of the system --------------------------------------------------------------------- */

/* Reads `count` integers after `word` from the first line of a file that begins with the word and
   has that many. "" matches any line; `path` is a printf format. False if there is no such line. */
bool bc_system_numbers(int64_t *numbers, int count, const char *word, const char *path, ...)
    __attribute__((format(printf, 4, 5)));
