#include "common/mpi/harness.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <sched.h>

/* A rank tests its request LOOKS times before each sleep: a collective may have several steps
   ready, and each test makes progress on one of them. */
#define LOOKS 4

/* The first sleep is short, for collectives that are about to end; each is twice as long as the one
   before, up to the maximum. */
#define SLEEP_MIN_NS 20000
#define SLEEP_MAX_NS 1000000

static bool sleeping;

void bc_harness_choose(bool sleeps)
{
    sleeping = sleeps;
}

typedef void wait_fn(MPI_Request *request);

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
        /* A signal may end the sleep earlier, which does no harm. */
        bc_sleep_ns(sleep_ns);
    }
}

static void wait_yielding(MPI_Request *request)
{
    for (int done = 0; !done;) {
        BC_MPI(PMPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (!done)
            sched_yield();
    }
}

static void barrier(MPI_Comm comm, wait_fn *wait)
{
    if (!sleeping) {
        BC_MPI(MPI_Barrier(comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Ibarrier(comm, &request));
    wait(&request);
}

static void allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, wait_fn *wait)
{
    if (!sleeping) {
        BC_MPI(MPI_Allreduce(send, receive, count, type, op, comm));
        return;
    }
    MPI_Request request;
    BC_MPI(PMPI_Iallreduce(send, receive, count, type, op, comm, &request));
    wait(&request);
}

void bc_harness_barrier(MPI_Comm comm)
{
    barrier(comm, wait_asleep);
}

void bc_harness_release(MPI_Comm comm)
{
    barrier(comm, wait_yielding);
}

void bc_harness_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    allreduce(send, receive, count, type, op, comm, wait_asleep);
}

void bc_harness_release_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm)
{
    allreduce(send, receive, count, type, op, comm, wait_yielding);
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
