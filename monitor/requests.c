#include "monitor/requests.h"

#include "monitor/handles.h"

/* ---- operations in flight -------------------------------------------------------------------- */

/* An operation in flight. The first one of a queue is also in the list of its place. */
struct node {
    uint64_t key;
    struct operation operation;
    int32_t next;       /* in the queue, or the next free node; NONE at the end */
    int32_t next_queue; /* in the list of the place */
};

enum { NONE = 0, PLACE_BITS = 16 };

/* Node 0 is no node, so zeroed places are empty. Pages that are never used take no memory. */
static struct node nodes[REQUESTS_MAX + 1];
static int32_t places[1 << PLACE_BITS];
static int32_t first_free = NONE;
static int32_t nodes_used; /* later nodes were never taken */

/* Where the number of the queue's first node is stored; NONE is stored there if it has none. */
static int32_t *find_queue(uint64_t key)
{
    int32_t *link = &places[handle_place(key, PLACE_BITS)];
    while (*link != NONE && nodes[*link].key != key)
        link = &nodes[*link].next_queue;
    return link;
}

/* A new node, or NONE without room. */
static int32_t node_of(uint64_t key, const struct operation *operation)
{
    int32_t node = first_free;
    if (node != NONE)
        first_free = nodes[node].next;
    else if (nodes_used < REQUESTS_MAX)
        node = ++nodes_used;
    else
        return NONE;
    nodes[node] = (struct node){.key = key, .operation = *operation};
    return node;
}

static bool is_among(uint64_t key, const uint64_t *keys, int count)
{
    for (int i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

/* ---- requests of complete operations --------------------------------------------------------- */

enum { COMPLETE_MAX = 4 };
static uint64_t complete[COMPLETE_MAX];
static int complete_count;

/* Two operations with the same request at a time are complete. */
static void learn(MPI_Request first, MPI_Request second)
{
    if (first != MPI_REQUEST_NULL && request_key(first) == request_key(second) &&
        !request_is_complete(first))
        complete[complete_count++] = request_key(first);
    PMPI_Wait(&first, MPI_STATUS_IGNORE);
    PMPI_Wait(&second, MPI_STATUS_IGNORE);
}

/* Sends to this process itself: Open MPI over UCX has one request for all complete sends, and
   another for sends to MPI_PROC_NULL. On a communicator of their own, so that they meet no message
   of the program's. */
static void learn_from_sends(void)
{
    MPI_Comm comm;
    MPI_Request receives[2], sends[2];
    char received[2];
    const char sent = 0;
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
    for (int i = 0; i < 2; i++)
        PMPI_Irecv(&received[i], 1, MPI_BYTE, 0, 0, comm, &receives[i]);
    for (int i = 0; i < 2; i++)
        PMPI_Isend(&sent, 1, MPI_BYTE, 0, 0, comm, &sends[i]);
    learn(sends[0], sends[1]);
    for (int i = 0; i < 2; i++)
        PMPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    PMPI_Comm_free(&comm);
}

void requests_start(void)
{
    MPI_Request requests[2];
    char nothing = 0;
    for (int i = 0; i < 2; i++)
        PMPI_Isend(&nothing, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[i]);
    learn(requests[0], requests[1]);
    for (int i = 0; i < 2; i++)
        PMPI_Irecv(&nothing, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[i]);
    learn(requests[0], requests[1]);
    for (int i = 0; i < 2; i++)
        PMPI_Ibarrier(MPI_COMM_SELF, &requests[i]);
    learn(requests[0], requests[1]);
    learn_from_sends();
}

bool request_is_complete(MPI_Request request)
{
    return is_among(request_key(request), complete, complete_count);
}

/* ---- adding and taking ----------------------------------------------------------------------- */

/* The requests that were handed out again while an operation of theirs was in flight. Those that
   find no room here are found again each time that happens. */
enum { REPEATED_MAX = 16 };
static uint64_t repeated[REPEATED_MAX];
static int repeated_count;

enum request_added request_add(MPI_Request request, const struct operation *operation)
{
    const uint64_t key = request_key(request);
    if (is_among(key, repeated, repeated_count))
        return REQUEST_REPEATED;
    int32_t *const link = find_queue(key);
    if (*link != NONE) {
        if (repeated_count < REPEATED_MAX)
            repeated[repeated_count++] = key;
        return REQUEST_REPEATED;
    }
    const int32_t node = node_of(key, operation);
    if (node == NONE)
        return REQUEST_WITHOUT_ROOM;
    *link = node;
    return REQUEST_ADDED;
}

bool request_take(MPI_Request request, struct operation *operation)
{
    int32_t *const link = find_queue(request_key(request));
    const int32_t node = *link;
    if (node == NONE)
        return false;
    *operation = nodes[node].operation;
    const int32_t next = nodes[node].next;
    if (next == NONE) {
        *link = nodes[node].next_queue;
    } else {
        nodes[next].next_queue = nodes[node].next_queue;
        *link = next;
    }
    nodes[node].next = first_free;
    first_free = node;
    return true;
}

void request_put_back(MPI_Request request, const struct operation *operation)
{
    const uint64_t key = request_key(request);
    const int32_t node = node_of(key, operation);
    if (node == NONE) {
        operation_untracked(operation);
        return;
    }
    int32_t *const link = find_queue(key);
    const int32_t first = *link;
    if (first != NONE) {
        nodes[node].next = first;
        nodes[node].next_queue = nodes[first].next_queue;
    }
    *link = node;
}

void requests_clear(void)
{
    /* Every queue starts at the place of its key. */
    for (int32_t node = 1; node <= nodes_used; node++)
        places[handle_place(nodes[node].key, PLACE_BITS)] = NONE;
    first_free = NONE;
    nodes_used = 0;
}

/* ---- persistent requests --------------------------------------------------------------------- */

enum { PERSISTENT_BITS = 16 };

_Static_assert(PERSISTENT_MAX <= 3 << (PERSISTENT_BITS - 2), "the map has room for them all");

static struct handle_slot persistent_slots[1 << PERSISTENT_BITS];
static struct handle_map persistent_map = {.slots = persistent_slots, .bits = PERSISTENT_BITS};
static struct persistent persistents[PERSISTENT_MAX];
static int persistent_free[PERSISTENT_MAX]; /* numbers that were given back */
static int persistent_free_count, persistent_used;

int persistent_made(int error, MPI_Request request, const struct persistent *persistent)
{
    if (error != MPI_SUCCESS)
        return error;
    monitor_lock();
    persistent_remove(request);
    const bool again = persistent_free_count > 0;
    bool added = false;
    if (again || persistent_used < PERSISTENT_MAX) {
        const int number = again ? persistent_free[--persistent_free_count] : persistent_used++;
        persistents[number] = *persistent;
        communicator_hold(persistent->communicator);
        added = handle_set(&persistent_map, request_key(request), number);
    }
    if (!added)
        object_without_room();
    monitor_unlock();
    return error;
}

const struct persistent *persistent_find(MPI_Request request)
{
    const int number = handle_find(&persistent_map, request_key(request));
    return number == HANDLE_UNKNOWN ? NULL : &persistents[number];
}

void persistent_remove(MPI_Request request)
{
    const int number = handle_remove(&persistent_map, request_key(request));
    if (number == HANDLE_UNKNOWN)
        return;
    communicator_release(persistents[number].communicator);
    persistent_free[persistent_free_count++] = number;
}
