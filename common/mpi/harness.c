#include "common/mpi/harness.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <sched.h>

/* A rank looks so often before each sleep: a collective may have several steps
   ready, and a look takes but one. */
#define LOOKS 4

/* The first sleep is short, for what is about to happen; each is twice the one
   before, up to the longest. */
#define SLEEP_MIN_NS 20000
#define SLEEP_MAX_NS 1000000

static bool sleeping;

void bc_harness_choose(bool sleeps)
{
    sleeping = sleeps;
}

static void wait_asleep(MPI_Request *request)
{
    int done = 0;
    for (int64_t sleep_ns = SLEEP_MIN_NS;; sleep_ns *= 2) {
        for (int i = 0; i < LOOKS && !done; i++)
            BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            return;
        if (sleep_ns > SLEEP_MAX_NS)
            sleep_ns = SLEEP_MAX_NS;
        /* A signal cuts it short, which does no harm. */
        bc_sleep_ns(sleep_ns);
    }
}

void bc_harness_barrier(MPI_Comm comm)
{
    if (!sleeping) {
        BC_MPI(MPI_Barrier(comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Ibarrier(comm, &request));
    wait_asleep(&request);
}

void bc_harness_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    if (!sleeping) {
        BC_MPI(MPI_Bcast(buffer, count, type, root, comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Ibcast(buffer, count, type, root, comm, &request));
    wait_asleep(&request);
}

void bc_harness_reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                       int root, MPI_Comm comm)
{
    if (!sleeping) {
        BC_MPI(MPI_Reduce(send, receive, count, type, op, root, comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Ireduce(send, receive, count, type, op, root, comm, &request));
    wait_asleep(&request);
}

void bc_harness_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    if (!sleeping) {
        BC_MPI(MPI_Allreduce(send, receive, count, type, op, comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Iallreduce(send, receive, count, type, op, comm, &request));
    wait_asleep(&request);
}

static void wait_yielding(MPI_Request *request)
{
    int done = 0;
    for (;;) {
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            return;
        sched_yield();
    }
}

void bc_harness_release(MPI_Comm comm)
{
    if (!sleeping) {
        BC_MPI(MPI_Barrier(comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Ibarrier(comm, &request));
    wait_yielding(&request);
}

void bc_harness_release_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm)
{
    if (!sleeping) {
        BC_MPI(MPI_Allreduce(send, receive, count, type, op, comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Iallreduce(send, receive, count, type, op, comm, &request));
    wait_yielding(&request);
}
