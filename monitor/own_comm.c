#include "monitor/own_comm.h"

#include "common/mpi/mpi_check.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t making_one = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool is_making_one;
static MPI_Errhandler program_handler; /* while one is made; then MPI_ERRHANDLER_NULL */

/* An error of another thread gets the program's handler back, which then handles it; MPI's default,
   if that thread has kept this one beyond its time. */
static void pass_on_of_others(MPI_Comm *comm, int *code, ...)
{
    if (is_making_one)
        return;
    const MPI_Errhandler handler = program_handler;
    (void)PMPI_Comm_set_errhandler(*comm,
                                   handler != MPI_ERRHANDLER_NULL ? handler : MPI_ERRORS_ARE_FATAL);
    (void)PMPI_Comm_call_errhandler(*comm, *code);
}

static MPI_Comm split(MPI_Comm of)
{
    MPI_Comm own = MPI_COMM_NULL;
    int rank;
    BC_MPI(PMPI_Comm_rank(of, &rank));
    is_making_one = true;
    const int error = PMPI_Comm_split(of, 0, rank, &own);
    is_making_one = false;
    if (error != MPI_SUCCESS)
        return MPI_COMM_NULL;
    BC_MPI(PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    return own;
}

MPI_Comm own_comm_make(MPI_Comm of)
{
    MPI_Errhandler quiet, latest;
    (void)pthread_mutex_lock(&making_one);
    BC_MPI(PMPI_Comm_create_errhandler(pass_on_of_others, &quiet));
    BC_MPI(PMPI_Comm_get_errhandler(of, &program_handler));
    BC_MPI(PMPI_Comm_set_errhandler(of, quiet));
    const MPI_Comm own = split(of);
    /* Another thread may have set one meanwhile. */
    BC_MPI(PMPI_Comm_get_errhandler(of, &latest));
    if (latest == quiet)
        BC_MPI(PMPI_Comm_set_errhandler(of, program_handler));
    BC_MPI(PMPI_Errhandler_free(&latest));
    BC_MPI(PMPI_Errhandler_free(&quiet));
    BC_MPI(PMPI_Errhandler_free(&program_handler));
    (void)pthread_mutex_unlock(&making_one);
    return own;
}
