/*
 * Collectives of the harness that leave the processor to others in oversubscribed
 * jobs.
 *
 * Between measurements the ranks agree on what comes next and bring together what
 * came of it. Nobody times that, but MPI libraries wait by polling, and with more
 * ranks than processors a rank that polls keeps away the one that it waits for:
 * MPICH 4.0.2 takes 35 ms a barrier with 8 ranks on 2 processors. So there a
 * rank that waits in one of these sleeps, and looks again from time to time.
 * Everywhere else they are MPI's blocking collectives and nothing more.
 *
 * Not for a timed region. Ranks leave these up to a millisecond apart; the barrier
 * that releases them into a timed region is bc_harness_release.
 */
#ifndef COMMCOST_COMMON_MPI_HARNESS_H
#define COMMCOST_COMMON_MPI_HARNESS_H

#include <mpi.h>
#include <stdbool.h>

/* What MPI_MAXLOC finds, as MPI_DOUBLE_INT has it. */
struct bc_located {
    double value;
    int rank;
};

/* Whether those that wait sleep; until this is called they don't. bc_run_begin calls
   it: they do in oversubscribed jobs. Local, but must be the same on all ranks, and
   between two collectives. */
void bc_harness_choose(bool sleeps);

/* As their namesakes in MPI; collective over `comm`.
   While they sleep these pass by what intercepts MPI calls: it would take them for
   the non-blocking collectives of a program. An error of MPI's ends the job. */
void bc_harness_barrier(MPI_Comm comm);
void bc_harness_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
void bc_harness_reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm);
void bc_harness_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);

/* A barrier whose ranks leave at once, as far as there are processors for them: in
   oversubscribed jobs those that wait offer their processor to others each time
   they look, but don't sleep. 8 ranks on 2 processors take 0.2 ms. */
void bc_harness_release(MPI_Comm comm);

/* An allreduce whose ranks leave so. */
void bc_harness_release_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm);

#endif
