/*
 * How much memory a process may still take, of its node and of /dev/shm, and allocation that ends
 * the job where there is none. All functions are local.
 *
 * Linux ends a process that takes more than its node or its control groups have. MPI libraries put
 * what the ranks of a node share into /dev/shm. Where that is too small some libraries give up in
 * MPI_Init with an error of their own, and with others the kernel ends a process with SIGBUS at its
 * first access, without any message.
 */
#ifndef COMMCOST_COMMON_MACHINE_MEMORY_H
#define COMMCOST_COMMON_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes that this process may still take: the minimum over its node and its control groups.
   INT64_MAX where the system doesn't say. */
int64_t bc_memory_available(void);

/* The bytes that are free in /dev/shm; INT64_MAX where the system doesn't say. A signal handler may
   call it: statvfs is a bare system call in Linux's C libraries. */
int64_t bc_shared_memory_available(void);

/* Call before MPI_Init: if `speaks`, warns on stderr when /dev/shm is nearly full. From now on a
   SIGBUS while /dev/shm is full ends the process with one line that says so, and with exit status
   1; a SIGBUS for another reason ends it as usual. */
void bc_shared_memory_watch(bool speaks);

/* Allocates `count` elements of zeros; never NULL, also for no elements. Without memory ends the
   job with the message that printf makes of `format`. The caller frees it. */
void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Allocates whole pages, at least one, that hold `bytes` bytes, on a page boundary and filled with
   zeros, so that the first access in a timed region finds every page in place. Otherwise as
   bc_allocate. */
void *bc_allocate_pages(size_t bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
