/*
 * The parts of flight_test: what happens around the start and the end of snapshots.
 */
#ifndef COMMCOST_TESTS_MONITOR_FLIGHT_H
#define COMMCOST_TESTS_MONITOR_FLIGHT_H

#include "expect.h"

extern MPI_Comm one, two; /* duplicates of MPI_COMM_WORLD with these names */

/* The tests. Collective over MPI_COMM_WORLD. */
void fly_messages(void);
void fly_persistent(void);
void fly_failures(void);
void fly_windows(void);
void fly_communicators(void);
void fly_snapshots(void);

/* Errors of the monitor's functions: before MPI_Init or after MPI_Finalize, local; and in between,
   collective over MPI_COMM_WORLD. */
void misuse_without_mpi(const char *when);
void misuse(void);

/* Rank 0 posts a receive of up to 64 bytes, a send, or a synchronous send, which can't be complete
   when it is posted. */
MPI_Request post_receive(MPI_Comm comm);
MPI_Request post_send(int bytes, MPI_Comm comm);
MPI_Request post_long_send(int bytes, MPI_Comm comm);

#endif
