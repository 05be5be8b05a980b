/*
 * The calls that complete one request, and those that start persistent ones. Real requests go to
 * the next definition.
 */
#include "next.h"
#include "requests.h"
#include "statistics.h"

/* A collective may not be cancelled, and not be freed before it is complete unless it is
 * persistent. */
static bool is_collective(const struct operation *operation)
{
    const enum operation_kind kind = operation->persistent.is_persistent
                                         ? operation->persistent.kind
                                         : operation->timing.series->kind;
    return operation_traits[kind].class == CLASS_COLLECTIVE;
}

INTERPOSED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Wait(request, status);
    return operation_complete(operation, request, status, clock_now_ns());
}

INTERPOSED int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Test(request, flag, status);
    struct test test;
    test_begin(&test, clock_now_ns());
    *flag = operation_progress(operation, test.decided_ns, test.decided_ns);
    if (*flag)
        return operation_complete(operation, request, status, test.decided_ns);
    test_add(&test, &operation->timing);
    test_end(&test);
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct operation *operation = operation_of(request);
    if (operation == NULL)
        return next.Request_get_status(request, flag, status);
    struct test test;
    test_begin(&test, clock_now_ns());
    *flag = operation_progress(operation, test.decided_ns, test.decided_ns);
    if (!operation_is_active(operation)) {
        operation_set_empty(status);
        return MPI_SUCCESS;
    }
    if (*flag)
        operation_set_status(status, operation);
    test_add(&test, &operation->timing);
    test_end(&test);
    return MPI_SUCCESS;
}

INTERPOSED int MPI_Request_free(MPI_Request *request)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Request_free(request);
    if (is_collective(operation) && !operation->persistent.is_persistent)
        model_abort(
            "MPI_Request_free of a collective's request is erroneous (MPI 3.1, section 5.12)");
    return operation_free(operation, request);
}

/* Without data, or after it has arrived, there is nothing to cancel, and the message completes. */
INTERPOSED int MPI_Cancel(MPI_Request *request)
{
    struct operation *operation = operation_of(*request);
    if (operation == NULL)
        return next.Cancel(request);
    if (is_collective(operation))
        model_abort("MPI_Cancel of a collective's request is erroneous (MPI 3.1, section 5.12)");
    return operation->data.operation != MPI_REQUEST_NULL ? next.Cancel(&operation->data.operation)
                                                         : MPI_SUCCESS;
}

/* ---- Persistent requests --------------------------------------------------------------------- */

INTERPOSED int MPI_Start(MPI_Request *request)
{
    struct operation *operation = operation_of(*request);
    return operation != NULL ? operation_start(operation) : next.Start(request);
}

INTERPOSED int MPI_Startall(int count, MPI_Request requests[])
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        struct operation *operation = operation_of(requests[i]);
        error = operation != NULL ? operation_start(operation) : next.Start(&requests[i]);
    }
    return error;
}
