#include "monitor/own_comm.h"

#include "common/mpi/mpi_check.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool is_making;
static MPI_Errhandler usual; /* the program's, while one is made; then MPI_ERRHANDLER_NULL */

/* An error of another thread gets the program's handler back, which then handles it; MPI's default,
   if that thread has kept this one beyond its time. */
static void keep_quiet(MPI_Comm *comm, int *code, ...)
{
    if (is_making)
        return;
    const MPI_Errhandler handler = usual;
    (void)PMPI_Comm_set_errhandler(*comm,
                                   handler != MPI_ERRHANDLER_NULL ? handler : MPI_ERRORS_ARE_FATAL);
    (void)PMPI_Comm_call_errhandler(*comm, *code);
}

static MPI_Comm split(MPI_Comm of)
{
    MPI_Comm own = MPI_COMM_NULL;
    int rank;
    BC_MPI(PMPI_Comm_rank(of, &rank));
    is_making = true;
    const int error = PMPI_Comm_split(of, 0, rank, &own);
    is_making = false;
    if (error != MPI_SUCCESS)
        return MPI_COMM_NULL;
    BC_MPI(PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    return own;
}

MPI_Comm own_comm_make(MPI_Comm of)
{
    MPI_Errhandler quiet, latest;
    (void)pthread_mutex_lock(&making);
    BC_MPI(PMPI_Comm_create_errhandler(keep_quiet, &quiet));
    BC_MPI(PMPI_Comm_get_errhandler(of, &usual));
    BC_MPI(PMPI_Comm_set_errhandler(of, quiet));
    const MPI_Comm own = split(of);
    /* Another thread may have set one meanwhile. */
    BC_MPI(PMPI_Comm_get_errhandler(of, &latest));
    if (latest == quiet)
        BC_MPI(PMPI_Comm_set_errhandler(of, usual));
    BC_MPI(PMPI_Errhandler_free(&latest));
    BC_MPI(PMPI_Errhandler_free(&quiet));
    BC_MPI(PMPI_Errhandler_free(&usual));
    (void)pthread_mutex_unlock(&making);
    return own;
}
