/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests, and the calls that complete them. */
#include "common/mpi/counts.h"
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { REQUEST_BASE = 0x50000000, BLOCK = 1024, BLOCKS_MAX = 4096 };

/* In blocks, since requests must stay where they are. */
static struct request *blocks[BLOCKS_MAX];
static int first_free;

#ifdef OPEN_MPI
/* Its Fortran layer reads a request's number in the request, so each word of a handle's memory is
   the number. The null request has number 0. */
typedef int handle_memory[64];
static handle_memory *request_memory;

static MPI_Request handle_of(int number)
{
    const size_t bytes = (size_t)BLOCK * BLOCKS_MAX * sizeof *request_memory;
    if (request_memory == NULL)
        request_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (request_memory == MAP_FAILED)
        world_abort("no memory for requests");
    for (size_t i = 0; i < sizeof *request_memory / sizeof **request_memory; i++)
        request_memory[number][i] = number + 1;
    return (MPI_Request)(void *)request_memory[number];
}

static uintptr_t number_of(MPI_Request handle)
{
    return ((uintptr_t)handle - (uintptr_t)request_memory) / sizeof *request_memory;
}

MPI_Fint PMPI_Request_c2f(MPI_Request handle)
{
    return handle == MPI_REQUEST_NULL ? 0 : **(handle_memory *)(void *)handle;
}
MPI_NAME(Request_c2f)

MPI_Request PMPI_Request_f2c(MPI_Fint number)
{
    return number == 0 ? MPI_REQUEST_NULL : (MPI_Request)(void *)request_memory[number - 1];
}
MPI_NAME(Request_f2c)
#else
static MPI_Request handle_of(int number) { return (MPI_Request)(uintptr_t)(REQUEST_BASE + number); }
static uintptr_t number_of(MPI_Request handle) { return (uintptr_t)handle - REQUEST_BASE; }
#endif

static struct request *at(int number)
{
    struct request **const block = &blocks[number / BLOCK];
    if (*block == NULL)
        *block = calloc(BLOCK, sizeof **block);
    return &(*block)[number % BLOCK];
}

struct request *request_make(const struct request_kind *kind, const char *name,
                             enum plan_kind plan_kind, int64_t bytes, void *operation,
                             MPI_Request *handle)
{
    while (at(first_free)->kind != NULL)
        if (++first_free == BLOCK * BLOCKS_MAX)
            world_abort("too many requests");
    struct request *const request = at(first_free);
    *request = (struct request){.kind = kind,
                                .name = name,
                                .plan_kind = plan_kind,
                                .bytes = bytes,
                                .operation = operation,
                                .number = first_free};
    if (handle != NULL)
        *handle = handle_of(first_free);
    return request;
}

struct request *request_find(MPI_Request handle)
{
    const uintptr_t number = number_of(handle);
    if (handle == MPI_REQUEST_NULL)
        return NULL;
    if (number >= (uintptr_t)BLOCK * BLOCKS_MAX || at((int)number)->kind == NULL)
        world_abort("no such request");
    return at((int)number);
}

void request_forget(struct request *request)
{
    if (request->kind->release != NULL)
        request->kind->release(request);
    request->kind = NULL;
    if (request->number < first_free)
        first_free = request->number;
}

int requests_left(void)
{
    int count = 0;
    for (int number = 0; number < BLOCK * BLOCKS_MAX && blocks[number / BLOCK] != NULL; number++)
        count += at(number)->kind != NULL;
    return count;
}

/* The request if it is to be completed. */
static struct request *active(MPI_Request handle)
{
    struct request *const request = request_find(handle);
    return request != NULL && request->active ? request : NULL;
}

void request_plan(struct request *request, uint64_t number)
{
    plan_make(&request->plan, request->plan_kind, request->bytes, number,
              1.0 + request->longer_share);
    request->active = true;
    clock_take_from_work(parameters.taken_ns);
    truth_posted(request->name, request->plan_kind, request->bytes);
}

void request_post(struct request *request, uint64_t number)
{
    request_plan(request, number);
    clock_spend(parameters.post_ns);
}

void status_fill(MPI_Status *status, int source, int tag, int64_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_ERROR = MPI_SUCCESS;
    BC_PMPI_STATUS_SET_ELEMENTS(status, MPI_BYTE, (MPI_Count)bytes);
    PMPI_Status_set_cancelled(status, 0);
}

static void fill_empty(MPI_Status *status) { status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0); }

/* ---- waiting --------------------------------------------------------------------------------- */

static void finish(struct request *request, MPI_Status *status)
{
    truth_completed(request->name, request->plan_kind, request->bytes);
    request->kind->deliver(request, status);
    request->active = false;
    clock_take_from_work(0.0);
    if (!request->persistent)
        request_forget(request);
}

static MPI_Status *status_of(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

struct arrival {
    int64_t at_ns;
    int i; /* of the request */
};

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *const left = a, *const right = b;
    if (left->at_ns != right->at_ns)
        return (left->at_ns > right->at_ns) - (left->at_ns < right->at_ns);
    return (left->i > right->i) - (left->i < right->i);
}

/* The messages of the requests that are known, in the order in which they start, to be freed.
   Returns their number. */
static int sort_arrivals(struct request *const requests[], int count, struct arrival **arrivals)
{
    int known = 0;
    *arrivals = malloc(((size_t)count + 1) * sizeof **arrivals);
    for (int i = 0; i < count; i++) {
        if (requests[i] == NULL || requests[i]->kind->arrival_ns == NULL)
            continue;
        const int64_t at_ns = requests[i]->kind->arrival_ns(requests[i]);
        if (at_ns != PLAN_UNKNOWN)
            (*arrivals)[known++] = (struct arrival){at_ns, i};
    }
    qsort(*arrivals, (size_t)known, sizeof **arrivals, compare_arrivals);
    return known;
}

/* Receives messages that start by until_ns in this order, since g is between them. */
static void resolve_arrivals(struct request *const requests[], int count, int64_t until_ns)
{
    struct arrival *arrivals;
    if (parameters.gap_ns == 0.0 || count < 2)
        return;
    const int known = sort_arrivals(requests, count, &arrivals);
    for (int k = 0; k < known && arrivals[k].at_ns <= until_ns; k++)
        requests[arrivals[k].i]->kind->resolve(requests[arrivals[k].i]);
    free(arrivals);
}

/* Returns when all messages that requests receive are known. */
static void await_arrivals(struct request *const requests[], int count)
{
    for (int i = 0; i < count; i++)
        while (requests[i] != NULL && requests[i]->kind->arrival_ns != NULL &&
               requests[i]->kind->arrival_ns(requests[i]) == PLAN_UNKNOWN)
            world_sleep();
}

void request_wait(struct request *const requests[], int count, MPI_Status *statuses)
{
    const int64_t call_ns = world_now_ns;
    int64_t end_ns = call_ns;
    double host_ns = 0.0;
    await_arrivals(requests, count);
    resolve_arrivals(requests, count, PLAN_UNKNOWN);
    for (int i = 0; i < count; i++) {
        if (requests[i] == NULL)
            continue;
        while (!requests[i]->kind->resolve(requests[i]))
            world_sleep();
        const int64_t own_ns = plan_end_ns(&requests[i]->plan, call_ns);
        end_ns = own_ns > end_ns ? own_ns : end_ns;
        host_ns += requests[i]->plan.host_ns + parameters.wait_ns;
    }
    clock_until(end_ns);
    clock_spend(host_ns);
    for (int i = 0; i < count; i++)
        if (requests[i] != NULL)
            finish(requests[i], status_of(statuses, i));
        else
            fill_empty(status_of(statuses, i));
}

/* The handle of a one-time operation that is complete. */
static void clear(MPI_Request *handle, const struct request *request)
{
    if (request != NULL && !request->persistent)
        *handle = MPI_REQUEST_NULL;
}

int PMPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    struct request *const request = active(*handle);
    request_wait(&request, 1, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
    clear(handle, request);
    return MPI_SUCCESS;
}
MPI_NAME(Wait)

/* The active requests, NULL for others; to be freed. */
static struct request **find_active(int count, const MPI_Request handles[])
{
    struct request **const requests = calloc((size_t)count + 1, sizeof(struct request *));
    for (int i = 0; i < count; i++)
        requests[i] = active(handles[i]);
    return requests;
}

int PMPI_Waitall(int count, MPI_Request handles[], MPI_Status statuses[])
{
    struct request **const requests = find_active(count, handles);
    request_wait(requests, count, statuses);
    for (int i = 0; i < count; i++)
        clear(&handles[i], requests[i]);
    free(requests);
    return MPI_SUCCESS;
}
MPI_NAME(Waitall)

/* The request that is complete first of those whose end is known; the lowest of several. */
struct first {
    int64_t end_ns;
    int i; /* MPI_UNDEFINED: none */
};

static void compare_end(struct first *first, struct request *request, int i, int64_t call_ns)
{
    if (!request->kind->resolve(request))
        return;
    const int64_t end_ns = plan_end_ns(&request->plan, call_ns);
    if (end_ns < first->end_ns || (end_ns == first->end_ns && i < first->i))
        *first = (struct first){end_ns, i};
}

/* Messages count in the order in which they start, as long as they may be first. False if another
   rank has done something meanwhile. */
static bool find_first(struct request *const requests[], int count, int64_t call_ns,
                       struct first *first)
{
    struct arrival *arrivals;
    bool settled = true;
    *first = (struct first){PLAN_UNKNOWN, MPI_UNDEFINED};
    world_settle_now();
    for (int i = 0; i < count; i++)
        if (requests[i] != NULL && requests[i]->kind->arrival_ns == NULL)
            compare_end(first, requests[i], i, call_ns);
    const int known = sort_arrivals(requests, count, &arrivals);
    for (int k = 0; k < known && settled && arrivals[k].at_ns <= first->end_ns; k++) {
        settled = arrivals[k].at_ns <= world_now_ns || world_settle(arrivals[k].at_ns);
        if (settled)
            compare_end(first, requests[arrivals[k].i], arrivals[k].i, call_ns);
    }
    free(arrivals);
    return settled;
}

/* Completes the request that is complete first; the lowest of several. */
int PMPI_Waitany(int count, MPI_Request handles[], int *index, MPI_Status *status)
{
    const int64_t call_ns = world_now_ns;
    struct request **const requests = find_active(count, handles);
    struct first first = {PLAN_UNKNOWN, MPI_UNDEFINED};
    bool any = false, found = false;
    for (int i = 0; i < count; i++)
        any = any || requests[i] != NULL;
    while (any && !found) {
        found = find_first(requests, count, call_ns, &first);
        if (found && first.i == MPI_UNDEFINED) {
            found = false;
            world_sleep();
        } else if (found) {
            found = world_settle(first.end_ns);
        }
    }
    free(requests);
    *index = first.i;
    if (any)
        return PMPI_Wait(&handles[first.i], status);
    fill_empty(status);
    return MPI_SUCCESS;
}
MPI_NAME(Waitany)

/* ---- testing --------------------------------------------------------------------------------- */

/* Takes the time of a test if any request is active, and returns when it decides. */
static bool begin_test(int count, const MPI_Request handles[])
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any = any || active(handles[i]) != NULL;
    if (!any)
        return false;
    clock_spend(parameters.test_ns);
    world_settle_now();
    struct request **const requests = find_active(count, handles);
    resolve_arrivals(requests, count, world_now_ns);
    free(requests);
    return true;
}

/* True if the part without the host of the operation has ended. */
static bool has_ended(struct request *request)
{
    if (request->kind->arrival_ns != NULL && request->kind->arrival_ns(request) > world_now_ns)
        return false;
    return request->kind->resolve(request) && plan_test(&request->plan, world_now_ns);
}

int PMPI_Testall(int count, MPI_Request handles[], int *flag, MPI_Status statuses[])
{
    *flag = 1;
    if (begin_test(count, handles))
        for (int i = 0; i < count; i++) {
            struct request *const request = active(handles[i]);
            if (request != NULL && !has_ended(request))
                *flag = 0;
        }
    return *flag != 0 ? PMPI_Waitall(count, handles, statuses) : MPI_SUCCESS;
}
MPI_NAME(Testall)

int PMPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    return PMPI_Testall(1, handle, flag,
                        status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}
MPI_NAME(Test)

int PMPI_Testany(int count, MPI_Request handles[], int *index, int *flag, MPI_Status *status)
{
    *index = MPI_UNDEFINED;
    *flag = !begin_test(count, handles);
    if (*flag != 0)
        fill_empty(status);
    for (int i = 0; i < count && *flag == 0; i++) {
        struct request *const request = active(handles[i]);
        if (request == NULL || !has_ended(request))
            continue;
        *index = i;
        *flag = 1;
        PMPI_Wait(&handles[i], status);
    }
    return MPI_SUCCESS;
}
MPI_NAME(Testany)

int PMPI_Testsome(int count, MPI_Request handles[], int *done, int indices[], MPI_Status statuses[])
{
    *done = begin_test(count, handles) ? 0 : MPI_UNDEFINED;
    for (int i = 0; i < count && *done != MPI_UNDEFINED; i++) {
        struct request *const request = active(handles[i]);
        if (request == NULL || !has_ended(request))
            continue;
        indices[*done] = i;
        PMPI_Wait(&handles[i], status_of(statuses, (*done)++));
    }
    return MPI_SUCCESS;
}
MPI_NAME(Testsome)

int PMPI_Waitsome(int count, MPI_Request handles[], int *done, int indices[], MPI_Status statuses[])
{
    *done = 1;
    PMPI_Waitany(count, handles, indices, status_of(statuses, 0));
    if (indices[0] == MPI_UNDEFINED)
        *done = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
MPI_NAME(Waitsome)

int PMPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    *flag = !begin_test(1, &handle) || has_ended(request_find(handle));
    if (*flag != 0)
        fill_empty(status);
    return MPI_SUCCESS;
}
MPI_NAME(Request_get_status)

/* ---- persistent requests --------------------------------------------------------------------- */

int PMPI_Start(MPI_Request *handle)
{
    struct request *const request = request_find(*handle);
    request->kind->start(request);
    return MPI_SUCCESS;
}
MPI_NAME(Start)

int PMPI_Startall(int count, MPI_Request handles[])
{
    for (int i = 0; i < count; i++)
        PMPI_Start(&handles[i]);
    return MPI_SUCCESS;
}
MPI_NAME(Startall)

int PMPI_Request_free(MPI_Request *handle)
{
    struct request *const request = request_find(*handle);
    if (request->active)
        world_abort("MPI_Request_free of an active request isn't modelled");
    request_forget(request);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Request_free)
