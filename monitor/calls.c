#include "monitor/calls.h"

#include <dlfcn.h>

struct next_mpi next;
struct freeing_around freeing_around;

/* NULL if the MPI library lacks the function: then no program calls it. */
static void *next_definition(const char *pmpi_name)
{
    void *const definition = dlsym(RTLD_NEXT, pmpi_name + 1);
    return definition != NULL ? definition : dlsym(RTLD_DEFAULT, pmpi_name);
}

__attribute__((constructor)) void find_next_definitions(void)
{
#define NEXT(Name) next.Name = (__typeof__(next.Name))next_definition("PMPI_" #Name);
#include "monitor/next_functions.h"
#undef NEXT
    freeing_around.Comm_free = (int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_free");
    freeing_around.Comm_disconnect = (int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_disconnect");
}

void operation_posted_again(const struct operation *operation, MPI_Request request)
{
    int is_complete = 0;
    MPI_Status status;
    /* Not PMPI's: the request may be that of an interposer below the monitor. */
    if (!operation->receives)
        (void)next.Request_get_status(request, &is_complete, &status);
    monitor_lock();
    struct operation former;
    while (request_take(request, &former)) {
        if (is_complete && !former.receives)
            operation_ended_when_posted(&former);
        else
            operation_untracked(&former);
    }
    if (is_complete)
        operation_ended_when_posted(operation);
    else
        request_put_back(request, operation);
    monitor_unlock();
}
