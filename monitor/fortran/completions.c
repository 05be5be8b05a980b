/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of the Fortran functions that complete operations by their requests, start persistent
 * ones, cancel and free. Requests are converted before the call, which may free them.
 */
#include "fortran_names.h"
#include "monitor/fortran/arguments.h"
#include "monitor/lib/count/followed.h"
#include "monitor/lib/wrap/next.h"
#include "monitor/lib/wrap/observers.h"
#include "monitor/lib/wrap/starting.h"

#include <pthread.h>
#include <stdlib.h>

/* Positions of the arguments of a function that completes operations. `indices` of one or more
   requests; `completed` is their number. */
enum { ABSENT = -1 };
struct positions {
    int count, requests, flag, completed, indices, statuses;
};

struct completion {
    const struct positions *at;
    struct fortran_call *fortran;
    int count;
    bool is_followed;
    struct followed_call call;
    struct arrays {
        MPI_Request *requests;
        MPI_Fint *statuses; /* of the program, or in place of those that it ignores */
        int *indices;       /* C's */
        void *memory;
    } arrays;
    MPI_Request handles[MANY], requests[MANY];
    MPI_Status own[MANY];
    MPI_Fint ignored[MANY * FORTRAN_STATUS_SIZE];
    int32_t taken[MANY];
    int indices[MANY];
};

static int integer_at(const struct completion *completion, int position)
{
    return take_int(completion->fortran->arguments[position]);
}

static void convert_array(int count, const MPI_Fint *from, MPI_Request *to)
{
    for (int i = 0; i < count; i++)
        to[i] = PMPI_Request_f2c(from[i]);
}

static void convert_requests(const struct completion *completion)
{
    convert_array(completion->count, completion->fortran->arguments[completion->at->requests],
                  completion->arrays.requests);
}

/* Sets the arrays, on the stack if there is room. False if there is no memory. */
static bool make_arrays(struct completion *completion)
{
    struct arrays *const arrays = &completion->arrays;
    const size_t count = (size_t)completion->count;
    *arrays = (struct arrays){completion->requests, completion->ignored, completion->indices, NULL};
    if (completion->count <= MANY)
        return true;
    arrays->memory = malloc(count * (sizeof *arrays->requests + sizeof *arrays->indices +
                                     FORTRAN_STATUS_SIZE * sizeof *arrays->statuses));
    if (arrays->memory == NULL)
        return false;
    arrays->requests = arrays->memory;
    arrays->statuses = (void *)(arrays->requests + count);
    arrays->indices = (void *)(arrays->statuses + FORTRAN_STATUS_SIZE * count);
    return true;
}

/* Replaces statuses that the program ignores. */
static void keep_statuses(struct completion *completion)
{
    void **const statuses = &completion->fortran->arguments[completion->at->statuses];
    if (fortran_ignores_status(*statuses) || fortran_ignores_statuses(*statuses))
        *statuses = completion->arrays.statuses;
    else
        completion->arrays.statuses = *statuses;
}

static void completion_begin(struct completion *completion, struct fortran_call *fortran,
                             enum operation_kind kind, const struct positions *at)
{
    MPI_Status *statuses = MPI_STATUSES_IGNORE;
    completion->at = at;
    completion->fortran = fortran;
    completion->count = 1;
    if (at->count != ABSENT)
        completion->count = integer_at(completion, at->count);
    completion->call.handles = completion->handles;
    completion->call.statuses = completion->own;
    completion->call.taken = completion->taken;
    const bool has_room = make_arrays(completion);
    if (has_room)
        convert_requests(completion);
    completion->is_followed =
        followed_begin(&completion->call, kind, has_room ? completion->count : 0,
                       completion->arrays.requests, &statuses, MANY) &&
        has_room;
    if (completion->is_followed)
        keep_statuses(completion);
}

/* True if the call has set its results: a failed call on several requests may have done so. */
static bool has_results(int error)
{
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        PMPI_Error_class(error, &class);
    return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

/* Returns the number of completed requests. */
static int find_completed(const struct completion *completion, int error)
{
    const struct positions *const at = completion->at;
    if (!has_results(error))
        return 0;
    if (at->completed != ABSENT) {
        const int completed = integer_at(completion, at->completed);
        return completed < completion->count ? completed : completion->count;
    }
    if (at->count != ABSENT && at->indices == ABSENT && error != MPI_SUCCESS)
        return completion->count;
    if (error != MPI_SUCCESS || (at->flag != ABSENT && !integer_at(completion, at->flag)) ||
        (at->indices != ABSENT && integer_at(completion, at->indices) == MPI_UNDEFINED))
        return 0;
    return at->indices != ABSENT ? 1 : completion->count;
}

static bool indices_of_2008_begin_with_0;

/* In MPICH 4.0, indices of mpi_f08 begin with 0 (https://github.com/pmodels/mpich/issues/6270). */
static void find_first_index(void)
{
    static char text[65536]; /* MPI_MAX_LIBRARY_VERSION_STRING differs between libraries */
    static const char name[] = "MPICH Version:";
    int length;
    PMPI_Get_library_version(text, &length);
    const char *version = strstr(text, name);
    if (version == NULL)
        return;
    version += strlen(name);
    version += strspn(version, " \t");
    indices_of_2008_begin_with_0 = strncmp(version, "4.0", 3) == 0;
}

static int first_index(const struct completion *completion)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;
    (void)pthread_once(&found, find_first_index);
    return fortran_is_2008(completion->fortran) && indices_of_2008_begin_with_0 ? 0 : 1;
}

/* Converts the indices and the statuses of the completed requests. Returns their number, without
   impossible indices (https://github.com/pmodels/mpich/issues/6989). */
static int convert_results(struct completion *completion, int completed)
{
    const struct positions *const at = completion->at;
    const MPI_Fint *const indices =
        at->indices != ABSENT ? completion->fortran->arguments[at->indices] : NULL;
    const int first = indices != NULL && completed > 0 ? first_index(completion) : 0;
    int count = 0;
    for (int i = 0; i < completed; i++) {
        const int index = indices != NULL ? (int)indices[i] - first : i;
        if (index < 0 || index >= completion->count)
            continue;
        completion->arrays.indices[count] = index;
        (void)fortran_status(completion->fortran, completion->arrays.statuses, i,
                             &completion->call.statuses[count++]);
    }
    return count;
}

static int completion_end(struct completion *completion, int error)
{
    const bool has_indices = completion->at->indices != ABSENT;
    const int completed = completion->is_followed
                              ? convert_results(completion, find_completed(completion, error))
                              : 0;
    if (completion->is_followed && (monitor_lock_needed || error != MPI_SUCCESS || completed > 0)) {
        if (error != MPI_SUCCESS)
            convert_requests(completion);
        (void)followed_end(&completion->call, error, completed,
                           has_indices ? completion->arrays.indices : NULL);
    } else {
        (void)followed_left(&completion->call, error);
    }
    free(completion->arrays.memory);
    return error;
}

#define COMPLETES(Name, n, ...)                                                                    \
    FORTRAN_WRAPPER(Name, n, false)                                                                \
    {                                                                                              \
        static const struct positions at = {__VA_ARGS__};                                          \
        struct completion completion;                                                              \
        if (!is_anything_monitored() || fortran_passes(fortran, &next.Name))                       \
            return FORTRAN_PASS(n), MPI_SUCCESS;                                                   \
        site_enter(fortran->return_address);                                                       \
        completion_begin(&completion, fortran, OPERATION_##Name, &at);                             \
        return completion_end(&completion, FORTRAN_NEXT(n));                                       \
    }

COMPLETES(Wait, 2, ABSENT, 0, ABSENT, ABSENT, ABSENT, 1)
COMPLETES(Test, 3, ABSENT, 0, 1, ABSENT, ABSENT, 2)
COMPLETES(Request_get_status, 3, ABSENT, 0, 1, ABSENT, ABSENT, 2)
COMPLETES(Waitall, 3, 0, 1, ABSENT, ABSENT, ABSENT, 2)
COMPLETES(Testall, 4, 0, 1, 2, ABSENT, ABSENT, 3)
COMPLETES(Waitany, 4, 0, 1, ABSENT, ABSENT, 2, 3)
COMPLETES(Testany, 5, 0, 1, 3, ABSENT, 2, 4)
COMPLETES(Waitsome, 5, 0, 1, ABSENT, 2, 3, 4)
COMPLETES(Testsome, 5, 0, 1, ABSENT, 2, 3, 4)

FORTRAN_WRAPPER(Cancel, 1, true)
{
    struct mpi_call call;
    if (fortran_passes(fortran, &next.Cancel))
        return FORTRAN_PASS(1), MPI_SUCCESS;
    site_enter(fortran->return_address);
    const bool entered = other_enter(&call);
    __atomic_store_n(&something_was_cancelled, true, __ATOMIC_RELAXED);
    return other_left(&call, entered, FORTRAN_NEXT(1));
}

FORTRAN_WRAPPER(Request_free, 1, true)
{
    struct mpi_call call;
    if (fortran_passes(fortran, &next.Request_free))
        return FORTRAN_PASS(1), MPI_SUCCESS;
    site_enter(fortran->return_address);
    const bool entered = other_enter(&call);
    request_forget(FORTRAN_HANDLE(Request, fortran->arguments[0]));
    return other_left(&call, entered, FORTRAN_NEXT(1));
}

FORTRAN_WRAPPER(Start, 1, true)
{
    struct starting starting;
    if (fortran_passes(fortran, &next.Start))
        return FORTRAN_PASS(1), MPI_SUCCESS;
    site_enter(fortran->return_address);
    void *const request = fortran->arguments[0];
    starting_begin(&starting, FORTRAN_HANDLE(Request, request));
    const int error = FORTRAN_NEXT(1);
    return starting_end(&starting, FORTRAN_HANDLE(Request, request), error);
}

FORTRAN_WRAPPER(Startall, 2, true)
{
    struct starting_all all;
    MPI_Request on_stack[MANY], *requests = on_stack;
    if (fortran_passes(fortran, &next.Startall))
        return FORTRAN_PASS(2), MPI_SUCCESS;
    site_enter(fortran->return_address);
    int count = take_int(fortran->arguments[0]);
    if (count > MANY)
        requests = malloc((size_t)count * sizeof *requests);
    if (requests == NULL)
        count = 0;
    convert_array(count, fortran->arguments[1], requests);
    starting_all_begin(&all, count, requests);
    const int error = FORTRAN_NEXT(2);
    convert_array(count, fortran->arguments[1], requests);
    (void)starting_all_end(&all, requests, error);
    if (requests != on_stack)
        free(requests);
    return error;
}
