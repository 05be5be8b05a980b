/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/requests.h"

#include "monitor/lib/count/own_comm.h"

enum { BUCKET_BITS = 16 };

/* Operations by request: the oldest of a request comes first in the list of its bucket. Pages that
   are never used take no memory. */
static struct node {
    uint64_t key;
    struct operation operation;
    const struct completing *keeper; /* for which it is kept; NULL: none */
    int32_t next;                    /* in the list of the bucket, or NONE */
} nodes[REQUESTS_MAX + 1];
static int32_t buckets[1 << BUCKET_BITS];
static struct pool node_pool = {.given_back = (int32_t[REQUESTS_MAX]){0}, .max = REQUESTS_MAX};

/* Returns the link to the key's first node of this keeper, or to NONE at the end of the list. */
static int32_t *find_node(uint64_t key, const struct completing *keeper)
{
    int32_t *link = &buckets[key_bucket(key, BUCKET_BITS)];
    while (*link != NONE && (nodes[*link].key != key || nodes[*link].keeper != keeper))
        link = &nodes[*link].next;
    return link;
}

static bool is_one_sided(enum operation_kind kind)
{
    return kind == OPERATION_Rput || kind == OPERATION_Rget || kind == OPERATION_Raccumulate ||
           kind == OPERATION_Rget_accumulate;
}

static bool sends_and_receives(enum operation_kind kind)
{
#if MPI_VERSION >= 4
    return kind == OPERATION_Isendrecv || kind == OPERATION_Isendrecv_replace;
#else
    (void)kind;
    return false;
#endif
}

static void add_depths(const struct operation *operation, int change)
{
    const enum operation_kind kind = (enum operation_kind)operation->kind;
    const bool is_message =
        operation_traits[kind].class == CLASS_POINT_TO_POINT && !is_one_sided(kind);
    depth_add(DEPTH_REQUESTS, change);
    if (operation->receives)
        depth_add(DEPTH_RECEIVES, change);
    if (is_message && (!operation->receives || sends_and_receives(kind)))
        depth_add(DEPTH_SENDS, change);
}

/* Unlinks the first node of a list and returns it; NONE if there is none. */
static int32_t unlink_node(int32_t *link)
{
    const int32_t node = *link;
    if (node == NONE)
        return NONE;
    *link = nodes[node].next;
    if (are_depths_counted())
        add_depths(&nodes[node].operation, -1);
    return node;
}

/* Links a new node. Returns false if there is no room. */
static bool add_node(int32_t *link, uint64_t key, const struct operation *operation)
{
    const int32_t node = pool_take(&node_pool);
    if (node == NONE)
        return false;
    nodes[node] = (struct node){.key = key, .operation = *operation, .next = *link};
    *link = node;
    if (are_depths_counted())
        add_depths(operation, 1);
    return true;
}

static bool is_among(uint64_t key, const uint64_t *keys, int count)
{
    for (int i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

enum { ATTEMPTS = 4 };
static uint64_t complete[ATTEMPTS];
static int complete_count;

bool request_is_complete(MPI_Request request)
{
    return is_among(request_key(request), complete, complete_count);
}

/* Begins each kind of operation twice: two with the same request are complete. Open MPI over UCX
   has one request for all complete sends and a different one for sends to MPI_PROC_NULL. A private
   communicator keeps the messages apart from the program's. If there is no room for it, these
   requests are noticed later. */
void requests_start(void)
{
    MPI_Comm comm = own_comm_make(MPI_COMM_SELF);
    MPI_Request receives[2], attempts[ATTEMPTS][2];
    char received[2];
    const char sent = 0;
    if (comm == MPI_COMM_NULL)
        return;
    for (int i = 0; i < 2; i++) {
        receives[i] = MPI_REQUEST_NULL; /* and stays so if a call fails */
        for (int k = 0; k < ATTEMPTS; k++)
            attempts[k][i] = MPI_REQUEST_NULL;
        PMPI_Isend(&sent, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, &attempts[0][i]);
        PMPI_Irecv(received, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, &attempts[1][i]);
        PMPI_Ibarrier(comm, &attempts[2][i]);
        PMPI_Irecv(&received[i], 1, MPI_BYTE, 0, 0, comm, &receives[i]);
        PMPI_Isend(&sent, 1, MPI_BYTE, 0, 0, comm, &attempts[3][i]);
    }
    for (int i = 0; i < ATTEMPTS; i++) {
        MPI_Request *const pair = attempts[i];
        if (pair[0] != MPI_REQUEST_NULL && request_key(pair[0]) == request_key(pair[1]) &&
            !request_is_complete(pair[0]))
            complete[complete_count++] = request_key(pair[0]);
        PMPI_Wait(&pair[0], MPI_STATUS_IGNORE);
        PMPI_Wait(&pair[1], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++)
        PMPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    PMPI_Comm_free(&comm);
}

static struct completing *in_progress;

void completing_enter(struct completing *call)
{
    monitor_lock();
    call->next = in_progress;
    in_progress = call;
    monitor_unlock();
}

/* Counts the operations of this key that the call may have completed, except those kept for it. */
static int operations_of(const struct completing *call, uint64_t key)
{
    int count = 0;
    for (int i = 0; i < call->count; i++)
        count += request_key(call->requests[i]) == key;
    for (int32_t node = buckets[key_bucket(key, BUCKET_BITS)]; node != NONE;
         node = nodes[node].next)
        count -= nodes[node].key == key && nodes[node].keeper == call;
    return count;
}

/* Keeps operations of this key, oldest first, for the calls that may have completed them. */
static void keep_for_calls(uint64_t key)
{
    for (struct completing *call = in_progress; call != NULL; call = call->next)
        for (int count = operations_of(call, key); count > 0; count--) {
            const int32_t node = *find_node(key, NULL);
            if (node == NONE)
                return;
            nodes[node].keeper = call;
            call->keeps = true;
        }
}

/* Returns the link to the oldest node of this key that isn't kept for a call. */
static int32_t *find_free_node(uint64_t key)
{
    int32_t *const link = find_node(key, NULL);
    if (*link == NONE || in_progress == NULL)
        return link;
    keep_for_calls(key);
    return find_node(key, NULL);
}

int32_t completing_take(const struct completing *call, MPI_Request request)
{
    const uint64_t key = request_key(request);
    const int32_t kept = call->keeps ? unlink_node(find_node(key, call)) : NONE;
    return kept != NONE ? kept : unlink_node(find_node(key, NULL));
}

void completing_leave(struct completing *call)
{
    struct completing **link = &in_progress;
    while (*link != NULL && *link != call)
        link = &(*link)->next;
    if (*link != NULL)
        *link = call->next;
    for (int i = 0; call->keeps && i < call->count; i++)
        for (int32_t node; (node = *find_node(request_key(call->requests[i]), call)) != NONE;)
            nodes[node].keeper = NULL;
}

const struct operation *request_operation(int32_t number) { return &nodes[number].operation; }

void request_release(int32_t number) { pool_give_back(&node_pool, number); }

/* Requests that were handed out again while an operation of theirs was in flight. If there is no
   room for one, it is found again each time. */
enum { REPEATED_MAX = 16 };
static uint64_t repeated[REPEATED_MAX];
static int repeated_count;

enum request_added request_add(MPI_Request request, const struct operation *operation)
{
    const uint64_t key = request_key(request);
    if (is_among(key, repeated, repeated_count))
        return REQUEST_REPEATED;
    int32_t *const link = find_free_node(key);
    if (*link == NONE)
        return add_node(link, key, operation) ? REQUEST_ADDED : REQUEST_WITHOUT_ROOM;
    if (repeated_count < REPEATED_MAX)
        repeated[repeated_count++] = key;
    return REQUEST_REPEATED;
}

bool request_take(MPI_Request request, struct operation *operation)
{
    const int32_t node = unlink_node(find_free_node(request_key(request)));
    if (node == NONE)
        return false;
    *operation = nodes[node].operation;
    pool_give_back(&node_pool, node);
    return true;
}

static void put_back(MPI_Request request, const struct operation *operation)
{
    const uint64_t key = request_key(request);
    if (!add_node(find_node(key, NULL), key, operation))
        operation_untracked(operation);
}

int (*request_get_status)(MPI_Request request, int *is_complete, MPI_Status *status);

void request_repeated(MPI_Request request, const struct operation *operation)
{
    int is_complete = 0;
    MPI_Status status;
    if (!operation->receives)
        (void)request_get_status(request, &is_complete, &status);
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
        put_back(request, operation);
    monitor_unlock();
}

/* Operations that another thread has taken out stay its own. */
void requests_clear(void)
{
    for (int32_t node = 1; node <= node_pool.used; node++) {
        int32_t *const list = &buckets[key_bucket(nodes[node].key, BUCKET_BITS)];
        while (*list != NONE)
            pool_give_back(&node_pool, unlink_node(list));
    }
}

void requests_count_depths(void)
{
    for (int kind = DEPTH_RECEIVES; kind <= DEPTH_REQUESTS; kind++)
        depth_set((enum depth_kind)kind, 0);
    for (int bucket = 0; bucket < 1 << BUCKET_BITS; bucket++)
        for (int32_t node = buckets[bucket]; node != NONE; node = nodes[node].next)
            add_depths(&nodes[node].operation, 1);
}

enum { PERSISTENT_BITS = 16 };

_Static_assert(PERSISTENT_MAX <= 3 << (PERSISTENT_BITS - 2), "the map has room for them all");

static struct handle_map persistent_map = HANDLE_MAP(PERSISTENT_BITS);
static struct plan plans[PERSISTENT_MAX + 1];
static struct pool plan_pool = {.given_back = (int32_t[PERSISTENT_MAX]){0}, .max = PERSISTENT_MAX};

/* Removes a persistent request. False if it isn't a known one. */
static bool persistent_remove(MPI_Request request)
{
    const int number = handle_remove(&persistent_map, request_key(request));
    if (number == HANDLE_UNKNOWN)
        return false;
    communicator_release(plans[number].communicator);
    pool_give_back(&plan_pool, number);
    return true;
}

void persistent_made(MPI_Request request, const struct plan *plan)
{
    monitor_lock();
    (void)persistent_remove(request);
    const int32_t number = pool_take(&plan_pool);
    if (number != NONE) {
        plans[number] = *plan;
        communicator_hold(plan->communicator);
        (void)handle_set(&persistent_map, request_key(request), number);
    } else {
        object_without_room();
    }
    monitor_unlock();
}

void persistent_move(MPI_Request former, MPI_Request request)
{
    monitor_lock();
    const int number = handle_remove(&persistent_map, request_key(former));
    if (number != HANDLE_UNKNOWN) {
        (void)persistent_remove(request);
        (void)handle_set(&persistent_map, request_key(request), number);
    }
    monitor_unlock();
}

const struct plan *persistent_find(MPI_Request request)
{
    const int number = handle_find(&persistent_map, request_key(request));
    return number == HANDLE_UNKNOWN ? NULL : &plans[number];
}

void request_forget(MPI_Request request)
{
    struct operation without_end;
    monitor_lock();
    const bool was_in_flight = request_take(request, &without_end);
    const bool was_known = persistent_remove(request);
    if (!was_in_flight && !was_known && !request_is_complete(request))
        object_without_room_freed();
    monitor_unlock();
}
