#include "monitor/calls.h"

#include "monitor/next.h"

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
