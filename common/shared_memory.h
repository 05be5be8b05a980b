/*
 * Shared memory that isn't there. MPI libraries put what a node's ranks share into
 * /dev/shm. Where that is too small some give up in MPI_Init in words of their own, and
 * some are ended by the kernel with SIGBUS at the first access, without a word.
 */
#ifndef COMMCOST_COMMON_SHARED_MEMORY_H
#define COMMCOST_COMMON_SHARED_MEMORY_H

/* From now on a process that ends in MPI_Init, or with SIGBUS, while there is little room
   in /dev/shm, says so in one line on stderr. After the SIGBUS the exit status is 1; one
   for another reason ends the process as ever. Local; before MPI_Init. */
void bc_shared_memory_watch(void);

/* MPI_Init has returned: from now on only SIGBUS counts. Local. */
void bc_shared_memory_found(void);

#endif
