/*
 * How much memory a process may still take, and allocation that ends the job where there is none.
 *
 * Linux ends a process that takes more than its node has, or more than the control groups of
 * containers and batch jobs allow.
 *
 * Source: Linux's Documentation/admin-guide/cgroup-v2.rst (memory.max, memory.current,
 * memory.stat) and cgroup-v1/memory.rst. All functions are local.
 */
#ifndef COMMCOST_COMMON_MACHINE_MEMORY_H
#define COMMCOST_COMMON_MACHINE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* The bytes that this process may still take: the minimum over its node and its control groups.
   INT64_MAX where the system doesn't say. */
int64_t bc_memory_available(void);

/* The bytes left in the control groups of a process: the minimum, over the groups that the file
   `membership` names (as /proc/self/cgroup) and all groups above them, of the group's limit minus
   its usage. Cached pages of files don't count as usage, since the kernel reclaims them. `mount` is
   where the hierarchies are mounted (as /sys/fs/cgroup). INT64_MAX without a limit. */
int64_t bc_memory_of_groups(const char *membership, const char *mount);

/* Allocates `count` elements of `element_bytes` bytes, filled with zeros; never NULL, also for no
   elements. Without memory ends the job with the message that printf makes of `format`. The caller
   frees it. */
void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Allocates whole pages, at least one, that hold `bytes` bytes, on a page boundary and filled with
   zeros, so that the first access in a timed region finds every page in place. Otherwise as
   bc_allocate. */
void *bc_allocate_pages(size_t bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
