/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/wrap/next.h"

#include "monitor/lib/count/requests.h"

#include <dlfcn.h>

struct next_mpi next;
struct freeing_around freeing_around;

/* Returns NULL if the MPI library lacks the function: then no program calls it. */
static void *next_definition(const char *pmpi_name)
{
    void *const definition = dlsym(RTLD_NEXT, pmpi_name + 1);
    return definition != NULL ? definition : dlsym(RTLD_DEFAULT, pmpi_name);
}

__attribute__((constructor)) void find_next_definitions(void)
{
#define NEXT(Name) next.Name = (__typeof__(next.Name))next_definition("PMPI_" #Name);
#include "monitor/lib/count/next_functions.h"
#undef NEXT
    freeing_around.Comm_free = (int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_free");
    freeing_around.Comm_disconnect = (int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_disconnect");
    request_get_status = next.Request_get_status;
}
