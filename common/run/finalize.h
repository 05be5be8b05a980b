/*
 * The end of MPI, which may not come: MPICH 4.0.2 over TCP waits in MPI_Finalize for ever, now and
 * then, on machines with other things to do. By then a program has done all it was started for.
 */
#pragma once

/* The seconds that MPI_Finalize may take in jobs of up to BC_FINALIZE_RANKS ranks. */
#ifndef BC_FINALIZE_S
#define BC_FINALIZE_S 30
#endif
#define BC_FINALIZE_RANKS 1000

/* How many seconds MPI_Finalize may take in a job of `ranks` ranks: BC_FINALIZE_S, and above
   BC_FINALIZE_RANKS in proportion to the ranks, rounded up. What grows fastest in a healthy
   MPI_Finalize is linear in the ranks: the launcher hears from each process, and a rank closes a
   connection to each other rank. Local. */
unsigned bc_finalize_seconds(int ranks);

/* Finalizes MPI. If that takes longer than bc_finalize_seconds of MPI_COMM_WORLD the process says
   so and ends with the exit status that the program was about to return. Collective. */
void bc_finalize(int status);
