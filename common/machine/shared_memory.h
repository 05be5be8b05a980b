/*
 * /dev/shm, where MPI libraries put what the ranks of a node share.
 *
 * Where it is too small some libraries give up in MPI_Init with an error of their own, and with
 * others the kernel ends a process with SIGBUS at its first access, without any message.
 */
#ifndef COMMCOST_COMMON_MACHINE_SHARED_MEMORY_H
#define COMMCOST_COMMON_MACHINE_SHARED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes that are free in /dev/shm; INT64_MAX where the system doesn't say. Local. A signal
   handler may call it: statvfs is a bare system call in Linux's C libraries. */
int64_t bc_shared_memory_available(void);

/* If `speaks`, warns on stderr when /dev/shm is nearly full, since a library that gives up in
   MPI_Init then ends the process. From now on a SIGBUS while /dev/shm is full ends the process with
   one line that says so, and with exit status 1; a SIGBUS for another reason ends it as usual.
   Local; call it before MPI_Init. */
void bc_shared_memory_watch(bool speaks);

#endif
