/*
 * How much memory a process may still take: of what its node has, what the control
 * groups of containers and batch jobs leave. Beyond either the kernel ends a process.
 * Reads Linux's files; all local.
 *
 * Source: Linux's Documentation/admin-guide/cgroup-v2.rst (memory.max, memory.current,
 * memory.stat) and cgroup-v1/memory.rst.
 */
#ifndef COMMCOST_COMMON_MACHINE_MEMORY_H
#define COMMCOST_COMMON_MACHINE_MEMORY_H

#include <stdint.h>

/* Bytes; INT64_MAX where nothing says. */
int64_t bc_memory_available(void);

/* What the groups leave that a file as /proc/self/cgroup names, and those above them,
   where the hierarchies are mounted as below /sys/fs/cgroup: the limit less what is
   taken, but for pages of files, which the kernel takes back. Bytes; INT64_MAX without
   a limit. */
int64_t bc_memory_of_groups(const char *membership, const char *mount);

#endif
