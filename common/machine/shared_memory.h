/*
 * Shared memory that isn't there. MPI libraries put what a node's ranks share into
 * /dev/shm. Where that is too small some give up in MPI_Init in words of their own, and
 * some are ended by the kernel with SIGBUS at the first access, without a word.
 */
#ifndef COMMCOST_COMMON_MACHINE_SHARED_MEMORY_H
#define COMMCOST_COMMON_MACHINE_SHARED_MEMORY_H

#include <stdbool.h>

/* Says on stderr, if `speaks`, when /dev/shm has little room: a library that then gives
   up in MPI_Init ends the process by itself. From now on a SIGBUS while /dev/shm is full
   ends the process with one line that says so, and exit status 1; one for another
   reason ends it as ever. Local; before MPI_Init. */
void bc_shared_memory_watch(bool speaks);

#endif
