/* A second interposer, to see whether they stack: counts what passes through it and says so in
 * MPI_Finalize. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static __typeof__(MPI_Iallreduce) *next_iallreduce;
static __typeof__(MPI_Wait) *next_wait;
static __typeof__(MPI_Finalize) *next_finalize;

static int posts;
static int waits;

/* Not in the calls, whose time is taken. */
__attribute__((constructor)) static void find_next_definitions(void)
{
    next_iallreduce = (__typeof__(next_iallreduce))dlsym(RTLD_NEXT, "MPI_Iallreduce");
    next_wait = (__typeof__(next_wait))dlsym(RTLD_NEXT, "MPI_Wait");
    next_finalize = (__typeof__(next_finalize))dlsym(RTLD_NEXT, "MPI_Finalize");
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    posts++;
    return next_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits++;
    return next_wait(request, status);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        (void)printf("front: posts %d waits %d\n", posts, waits);
    return next_finalize();
}
