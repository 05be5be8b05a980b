/*
 * The parts of flight_test: what happens around the start and the end of snapshots.
 */
#ifndef MONITOR_FLIGHT_H
#define MONITOR_FLIGHT_H

#include "expect.h"

extern MPI_Comm one, two; /* called so; duplicates of MPI_COMM_WORLD */
enum { BUFFER_BYTES = 1 << 17 };
extern char *buffer; /* of so many bytes */

/* All collective over MPI_COMM_WORLD. */
void fly_messages(void);
void fly_persistent(void);
void fly_failures(void);
void fly_windows(void);
void fly_communicators(void);
void fly_snapshots(void);

/* Errors of the monitor's functions: before MPI_Init, while MPI is there, and after MPI_Finalize,
   local but for the second. */
void misuse_without_mpi(const char *when);
void misuse(void);

/* What rank 1 does for rank 0's receives: sends so many bytes, uncounted. */
void send_bytes(int bytes, MPI_Comm comm);

/* What it does for its sends. */
void receive_bytes(MPI_Comm comm);

/* Rank 0 posts a receive of up to 64 bytes. */
MPI_Request post_receive(MPI_Comm comm);

/* And sends, the second one synchronous: it isn't complete when it is posted. */
MPI_Request post_send(int bytes, MPI_Comm comm);
MPI_Request post_long_send(int bytes, MPI_Comm comm);

void sleep_ms(int ms);

#endif
