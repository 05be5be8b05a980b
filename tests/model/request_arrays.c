/*
 * The calls that complete several requests. In an array with real and modelled ones the real ones
 * go first, to the next definition, so that the last thing the call does is the modelled wait,
 * which accounts for its own time. A call that completes several modelled requests waits once, for
 * all of them.
 */
#include "next.h"
#include "requests.h"

/*
 * Replaces the modelled requests among requests by MPI_REQUEST_NULL, which the next definition
 * skips, and returns their operations as a list in the order of the array; NULL if there are none.
 * A request is in one call at a time, so the links can be in the operations and nothing is
 * allocated.
 */
static struct operation *hide_modelled(int count, MPI_Request requests[])
{
    struct operation *first = NULL;
    struct operation **link = &first;
    for (int i = 0; i < count; i++) {
        struct operation *operation = operation_of(requests[i]);
        if (operation == NULL)
            continue;
        requests[i] = MPI_REQUEST_NULL;
        operation->hidden_index = i;
        *link = operation;
        link = &operation->next_hidden;
        *link = NULL;
    }
    return first;
}

static void restore(struct operation *hidden, MPI_Request requests[])
{
    for (; hidden != NULL; hidden = hidden->next_hidden)
        requests[hidden->hidden_index] = request_of(hidden);
}

static bool any_modelled(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (operation_of(requests[i]) != NULL)
            return true;
    return false;
}

/* A call for all operations in the list that came in at since_ns and decides at now_ns: see
   operation_progress, whose results go to is_ready of each. Returns whether any is active. */
static bool progress_all(struct operation *hidden, int64_t since_ns, int64_t now_ns)
{
    bool any_active = false;
    for (; hidden != NULL; hidden = hidden->next_hidden) {
        hidden->is_ready = operation_progress(hidden, since_ns, now_ns);
        any_active |= operation_is_active(hidden);
    }
    return any_active;
}

static bool all_ready(const struct operation *hidden)
{
    for (; hidden != NULL; hidden = hidden->next_hidden)
        if (!hidden->is_ready)
            return false;
    return true;
}

/* A test of them all that completes none. */
static void end_in_vain(struct test *test, const struct operation *hidden)
{
    for (; hidden != NULL; hidden = hidden->next_hidden)
        if (operation_is_active(hidden))
            test_add(test, &hidden->timing);
    test_end(test);
}

static MPI_Status *status_at(MPI_Status statuses[], int index)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

/* Whether the next definition has anything to do. Asked before it is called, since its time isn't
 * modelled. */
static bool any_left(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            return true;
    return false;
}

static void set_all_empty(int count, MPI_Status statuses[])
{
    if (statuses != MPI_STATUSES_IGNORE)
        for (int i = 0; i < count; i++)
            operation_set_empty(&statuses[i]);
}

/* Completes all operations in the list, by a call that began to wait for them at wait_ns; returns
   the first error, or error if that is one. */
static int complete_all(struct operation *hidden, MPI_Request requests[], MPI_Status statuses[],
                        int64_t wait_ns, int error)
{
    struct completion completion;
    completion_begin(&completion, wait_ns);
    while (hidden != NULL) {
        struct operation *operation = hidden;
        const int i = operation->hidden_index;
        hidden = operation->next_hidden; /* before the operation is given back */
        const int own_error =
            operation_finish(operation, &requests[i], status_at(statuses, i), &completion);
        error = error != MPI_SUCCESS ? error : own_error;
    }
    completion_end(&completion);
    return error;
}

int requests_wait_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Waitall(count, requests, statuses);

    int64_t wait_ns = clock_now_ns();
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    if (any_left(count, requests)) {
        error = next.Waitall(count, requests, statuses);
        const int64_t real_end_ns = clock_now_ns(); /* real operations' time isn't modelled */
        progress_all(hidden, wait_ns, real_end_ns);
        wait_ns = real_end_ns;
    } else {
        set_all_empty(count, statuses);
    }
    return complete_all(hidden, requests, statuses, wait_ns, error);
}

INTERPOSED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    return requests_wait_all(count, requests, statuses);
}

INTERPOSED int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Testall(count, requests, flag, statuses);

    struct test test;
    test_begin(&test, clock_now_ns());
    int64_t wait_ns = test.decided_ns;
    struct operation *hidden = hide_modelled(count, requests);
    progress_all(hidden, test.decided_ns, test.decided_ns);
    *flag = all_ready(hidden);

    int error = MPI_SUCCESS;
    if (*flag && any_left(count, requests)) {
        error = next.Testall(count, requests, flag, statuses);
        const int64_t real_end_ns = clock_now_ns(); /* as in MPI_Waitall */
        wait_ns = real_end_ns > wait_ns ? real_end_ns : wait_ns;
    } else if (*flag) {
        set_all_empty(count, statuses);
    }

    if (*flag)
        return complete_all(hidden, requests, statuses, wait_ns, error);
    restore(hidden, requests);
    end_in_vain(&test, hidden);
    return error;
}

/*
 * MPI_Testany with a modelled request among them, or one round of MPI_Waitany, which came in at
 * since_ns and decides at now_ns. test: to be ended if nothing modelled is completed; NULL in a
 * wait.
 */
static int test_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status,
                    int64_t since_ns, int64_t now_ns, struct test *test)
{
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    *index = MPI_UNDEFINED;
    *flag = true;
    if (any_left(count, requests))
        error = next.Testany(count, requests, index, flag, status);
    else
        operation_set_empty(status);
    restore(hidden, requests);

    /* "No active request" is what the next definition says of what it sees; there may be ours. */
    const bool any_active = progress_all(hidden, since_ns, now_ns);
    if (*index == MPI_UNDEFINED && error == MPI_SUCCESS && any_active) {
        *flag = false;
        for (struct operation *operation = hidden; operation != NULL;
             operation = operation->next_hidden) {
            if (operation_is_active(operation) && operation->is_ready) {
                *index = operation->hidden_index;
                *flag = true;
                return operation_complete(operation, &requests[*index], status, since_ns);
            }
        }
    }
    if (test != NULL)
        end_in_vain(test, hidden);
    return error;
}

INTERPOSED int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status)
{
    if (!any_modelled(count, requests))
        return next.Testany(count, requests, index, flag, status);
    struct test test;
    test_begin(&test, clock_now_ns());
    return test_any(count, requests, index, flag, status, test.decided_ns, test.decided_ns, &test);
}

INTERPOSED int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (!any_modelled(count, requests))
        return next.Waitany(count, requests, index, status);

    const int64_t wait_ns = clock_now_ns();
    int error;
    int flag;
    do
        error = test_any(count, requests, index, &flag, status, wait_ns, clock_now_ns(), NULL);
    while (!flag && error == MPI_SUCCESS);
    return error;
}

/* MPI_Testsome with a modelled request among them, or one round of MPI_Waitsome: as test_any. */
static int test_some(int count, MPI_Request requests[], int *outcount, int indices[],
                     MPI_Status statuses[], int64_t since_ns, int64_t now_ns, struct test *test)
{
    struct operation *hidden = hide_modelled(count, requests);
    int error = MPI_SUCCESS;
    *outcount = MPI_UNDEFINED;
    if (any_left(count, requests))
        error = next.Testsome(count, requests, outcount, indices, statuses);
    restore(hidden, requests);
    if (progress_all(hidden, since_ns, now_ns) && *outcount == MPI_UNDEFINED)
        *outcount = 0;

    bool in_vain = true;
    for (const struct operation *operation = hidden; operation != NULL;
         operation = operation->next_hidden)
        in_vain &= !operation_is_active(operation) || !operation->is_ready;
    if (in_vain) {
        if (test != NULL)
            end_in_vain(test, hidden);
        return error;
    }

    struct completion completion;
    completion_begin(&completion, since_ns);
    while (hidden != NULL) {
        struct operation *operation = hidden;
        hidden = operation->next_hidden; /* before the operation is given back */
        if (!operation_is_active(operation) || !operation->is_ready)
            continue;
        const int i = operation->hidden_index;
        const int out = (*outcount)++;
        indices[out] = i;
        const int own_error =
            operation_finish(operation, &requests[i], status_at(statuses, out), &completion);
        error = error != MPI_SUCCESS ? error : own_error;
    }
    completion_end(&completion);
    return error;
}

INTERPOSED int MPI_Testsome(int count, MPI_Request requests[], int *outcount, int indices[],
                            MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Testsome(count, requests, outcount, indices, statuses);
    struct test test;
    test_begin(&test, clock_now_ns());
    return test_some(count, requests, outcount, indices, statuses, test.decided_ns, test.decided_ns,
                     &test);
}

INTERPOSED int MPI_Waitsome(int count, MPI_Request requests[], int *outcount, int indices[],
                            MPI_Status statuses[])
{
    if (!any_modelled(count, requests))
        return next.Waitsome(count, requests, outcount, indices, statuses);

    const int64_t wait_ns = clock_now_ns();
    int error;
    do
        error =
            test_some(count, requests, outcount, indices, statuses, wait_ns, clock_now_ns(), NULL);
    while (*outcount == 0 && error == MPI_SUCCESS);
    return error;
}
