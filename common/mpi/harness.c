/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mpi/harness.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <sched.h>

/* A rank that sleeps tests its request LOOKS times before each sleep: a collective may have several
   steps ready, and each test makes progress on one of them. */
#define LOOKS 4

/* The first sleep is short, for collectives that are about to end; each is twice as long as the one
   before, up to the maximum. */
#define SLEEP_MIN_NS 20000
#define SLEEP_MAX_NS 1000000

static bool sleeping;

void bc_harness_choose(bool sleeps) { sleeping = sleeps; }

/* Waits for an operation that has begun, if ranks sleep. */
static void finish(MPI_Request *request, bool yields)
{
    int64_t sleep_ns = SLEEP_MIN_NS;
    for (int64_t looks = 1; sleeping; looks++) {
        int done;
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            return;
        if (yields) {
            sched_yield();
        } else if (looks % LOOKS == 0) {
            bc_sleep_ns(sleep_ns); /* A signal may end it earlier, which does no harm. */
            sleep_ns = 2 * sleep_ns < SLEEP_MAX_NS ? 2 * sleep_ns : SLEEP_MAX_NS;
        }
    }
}

static void barrier(MPI_Comm comm, bool yields)
{
    MPI_Request request = MPI_REQUEST_NULL;
    BC_MPI_AS(sleeping ? PMPI_Ibarrier(comm, &request) : MPI_Barrier(comm), "MPI_Barrier");
    finish(&request, yields);
}

void bc_harness_barrier(MPI_Comm comm) { barrier(comm, false); }

void bc_harness_release(MPI_Comm comm) { barrier(comm, true); }

static void allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, bool yields)
{
    MPI_Request request = MPI_REQUEST_NULL;
    BC_MPI_AS(sleeping ? PMPI_Iallreduce(send, receive, count, type, op, comm, &request)
                       : MPI_Allreduce(send, receive, count, type, op, comm),
              "MPI_Allreduce");
    finish(&request, yields);
}

void bc_harness_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    allreduce(send, receive, count, type, op, comm, false);
}

void bc_harness_release_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm)
{
    allreduce(send, receive, count, type, op, comm, true);
}

void bc_harness_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    BC_MPI_AS(sleeping ? PMPI_Ibcast(buffer, count, type, root, comm, &request)
                       : MPI_Bcast(buffer, count, type, root, comm),
              "MPI_Bcast");
    finish(&request, false);
}

void bc_harness_reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    BC_MPI_AS(sleeping ? PMPI_Ireduce(send, receive, count, type, op, root, comm, &request)
                       : MPI_Reduce(send, receive, count, type, op, root, comm),
              "MPI_Reduce");
    finish(&request, false);
}
