/*
 * Memory that isn't there. MPI libraries put what a node's ranks share into /dev/shm;
 * where that is full the kernel ends the process with SIGBUS at the first access, in
 * MPI_Init or later, without a word of why.
 */
#ifndef COMMCOST_COMMON_BUS_ERROR_H
#define COMMCOST_COMMON_BUS_ERROR_H

/* From now on a SIGBUS while /dev/shm is full ends the process with one line on stderr
   that says so, and exit status 1; any other SIGBUS ends it as ever. Local; before
   MPI_Init. */
void bc_bus_error_watch(void);

#endif
