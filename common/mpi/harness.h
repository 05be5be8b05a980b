/*
 * Harness collectives: what the ranks call between measurements, to agree on what comes next and to
 * collect results.
 *
 * MPI libraries wait by polling, and with more ranks than processors a polling rank keeps the rank
 * for which it waits from running: MPICH 4.0.2 takes 35 ms a barrier with 8 ranks on 2 processors.
 * So in oversubscribed jobs a rank that waits here sleeps, and looks again from time to time. In
 * all others these are MPI's blocking collectives and nothing more.
 *
 * Don't use them in a timed region. Ranks may leave them up to a millisecond apart; the barrier
 * that releases ranks into a timed region is bc_harness_release.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* An MPI_DOUBLE_INT, as MPI_MAXLOC finds it. */
struct bc_located {
    double value;
    int rank;
};

/* Sets whether ranks that wait sleep; at first they don't. common/run/program.c calls it. Local,
   but the same on all ranks, and between two collectives. */
void bc_harness_choose(bool sleeps);

/* As the MPI functions of the same names; collective over `comm`. Where ranks sleep these call
   PMPI_ directly, so interposers don't see them and don't take them for a program's non-blocking
   collectives. An MPI error ends the job. */
void bc_harness_barrier(MPI_Comm comm);
void bc_harness_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
void bc_harness_reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm);
void bc_harness_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);

/* A barrier, and an allreduce, whose ranks leave at once, as far as there are processors for them:
   in oversubscribed jobs a rank that waits yields its processor each time it has looked, but
   doesn't sleep. 8 ranks on 2 processors take 0.2 ms. */
void bc_harness_release(MPI_Comm comm);
void bc_harness_release_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm);
