/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Harness collectives: calls between measurements, to agree on the next step and to collect
 * results.
 *
 * MPI libraries wait by polling, and with more ranks than processors a polling rank keeps others
 * from running: MPICH 4.0.2 takes 35 ms per barrier with 8 ranks on 2 processors. So in
 * oversubscribed jobs a rank that waits here sleeps between tests. In other jobs these are MPI's
 * blocking collectives. Not for a timed region, except bc_harness_release: ranks may leave them up
 * to a millisecond apart. Collective over `comm`, except bc_harness_choose; an MPI error ends the
 * job.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

/* An MPI_DOUBLE_INT, as MPI_MAXLOC finds it. */
struct bc_located {
    double value;
    int rank;
};

/* Sets if waiting ranks sleep; initially they don't. Local, the same on all ranks, between two
   collectives. */
void bc_harness_choose(bool sleeps);

/* Do what the MPI functions of these names do. If ranks sleep, they call PMPI_ functions, so that
   interposers don't count non-blocking collectives. */
void bc_harness_barrier(MPI_Comm comm);
void bc_harness_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
void bc_harness_reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm);
void bc_harness_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);

/* A barrier and an allreduce that release ranks into a timed region: ranks leave at once, as far as
   there are processors for them. In oversubscribed jobs a rank that waits yields its processor, but
   doesn't sleep: 8 ranks on 2 processors take 0.2 ms. */
void bc_harness_release(MPI_Comm comm);
void bc_harness_release_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm);
