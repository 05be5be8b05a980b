/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of most functions, from the rows of functions.def. completions.c and life.c have the
   others. */
#include "monitor/lib/wrap/observers.h"

/* Frees a communicator without an observer, so that a remembered handle isn't used afterwards. */
static int free_around(int (*free_it)(MPI_Comm *), MPI_Comm *comm)
{
    const MPI_Comm freed = *comm;
    const int number = communicator_before_unseen_free(freed);
    const int error = free_it(comm);
    if (error == MPI_SUCCESS)
        communicator_freed(freed, number);
    return error;
}

#define NEXT(Name, arguments) PASS(Name, arguments)
#define IS_OBSERVED is_of_fortran_layer
#define PASS_FREE(Name, arguments) free_around(next.Name, UNPACK arguments)
#define IS_FOUND(Name) (*KEY(Name) != NULL)
#define TAKE(parameters, arguments)
#define HANDLE_AT(Kind, address) (*(address))
#define KEEP_STATUS(arguments)                                                                     \
    MPI_Status own;                                                                                \
    status = status == MPI_STATUS_IGNORE ? &own : status
#define RETURNED_STATUS status
#define RETURN_ADDRESS __builtin_return_address(0)
#define EACH_TYPE EACH_OF_C

#define LARGE_COUNTS 0
#define COUNT int
#define DISPLACEMENT int
#define ADDRESS MPI_Aint
#define FUNCTION(Name, parameters, arguments, remembers) INTERPOSED int MPI_##Name parameters
#define KEY(Name) &next.Name
#define PASS(Name, arguments) next.Name arguments
#include "monitor/lib/wrap/wrap.h"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define ADDRESS MPI_Count
#define FUNCTION(Name, parameters, arguments, remembers) INTERPOSED int MPI_##Name##_c parameters
#define KEY(Name) &next.Name##_c
#define PASS(Name, arguments) next.Name##_c arguments
#include "monitor/lib/wrap/wrap.h"
#endif

/* Wrap frees that bypass the monitor, by tools before it and by layers for other languages. They
   aren't counted. The monitor's own frees come here, too. */
INTERPOSED int PMPI_Comm_free(MPI_Comm *comm)
{
    return free_around(freeing_around.Comm_free, comm);
}

INTERPOSED int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_around(freeing_around.Comm_disconnect, comm);
}
