/*
 * The end of MPI, which may not come: MPICH 4.0.2 over TCP waits in MPI_Finalize for
 * ever, now and then, on machines with other things to do. By then a program has done
 * all it was started for.
 */
#ifndef COMMCOST_COMMON_FINALIZE_H
#define COMMCOST_COMMON_FINALIZE_H

/* How long MPI_Finalize may take. */
#ifndef BC_FINALIZE_S
#define BC_FINALIZE_S 30
#endif

/* Finalizes MPI. If that takes longer than BC_FINALIZE_S the process says so and ends
   with the exit status that the program was about to return. Collective. */
void bc_finalize(int status);

#endif
