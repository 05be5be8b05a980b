#include "monitor/communicators.h"

#include "common/machine/hosts.h"

#include <stdio.h>
#include <stdlib.h>

/* Many more handles are known than there are numbers: also those of OTHER_COMMUNICATORS. */
enum { NUMBER_BITS = 14, IDENTITY_BITS = 14 };

_Static_assert(COMMUNICATORS_MAX <= 3 << (IDENTITY_BITS - 2), "the map has room for them all");

struct communicator communicators[COMMUNICATORS_MAX] = {
    [OTHER_COMMUNICATORS] = {.name = "(other communicators)",
                             .members = "NA",
                             .order = 3,
                             .processes = -1},
    [NULL_COMMUNICATOR] =
        {.name = "(null handle)", .members = "NA", .order = 3, .processes = -1, .identity = 1},
};

struct handle_map communicator_numbers = HANDLE_MAP(NUMBER_BITS);

/* The numbers in use by their identity; GIVEN_UP for identities that must not be used again. */
enum { GIVEN_UP = COMMUNICATORS_MAX };
static struct handle_map identities = HANDLE_MAP(IDENTITY_BITS);

/* The lowest ordinal that may be free, by `alike`. */
static struct handle_map lowest_ordinals = HANDLE_MAP(IDENTITY_BITS);

enum { FREE, LIVE, FREED };
static unsigned char state[COMMUNICATORS_MAX] = {
    [OTHER_COMMUNICATORS] = LIVE, [NULL_COMMUNICATOR] = LIVE};
static int holds[COMMUNICATORS_MAX];          /* see communicator_hold */
static int lowest_free = COMMUNICATORS_FIRST; /* no number below it is free */

static bool started;

/* Fowler, Noll and Vo's hash (FNV-1a, RFC 9923). */
static uint64_t hash(uint64_t so_far, const void *data, size_t length)
{
    const unsigned char *const bytes = data;
    for (size_t i = 0; i < length; i++)
        so_far = (so_far ^ bytes[i]) * UINT64_C(0x100000001b3);
    return so_far;
}

static const uint64_t HASH_START = UINT64_C(0xcbf29ce484222325);

/* The members' ranks in MPI_COMM_WORLD, MPI_UNDEFINED for processes of other jobs. The caller frees
   them. NULL without memory. */
static int *ranks_in_world(MPI_Group group, int size)
{
    int *const world = malloc(2 * (size_t)(size > 0 ? size : 1) * sizeof *world);
    if (world == NULL)
        return NULL;
    int *const own = world + size;
    for (int i = 0; i < size; i++)
        own[i] = i;
    MPI_Group world_group;
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    PMPI_Group_translate_ranks(group, size, own, world_group, world);
    PMPI_Group_free(&world_group);
    return world;
}

static int ascending(const void *left, const void *right)
{
    const int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/* Writes the members to the record; sorts the ranks. */
static void format_members(struct communicator *record, int *ranks, int size)
{
    qsort(ranks, (size_t)size, sizeof *ranks, ascending);
    /* Processes of other jobs come first: MPI_UNDEFINED is negative. */
    while (size > 0 && ranks[0] < 0) {
        ranks++;
        size--;
    }
    const size_t room = sizeof record->members;
    if (bc_format_ranks(ranks, (size_t)size, record->members, room) >= room)
        (void)snprintf(record->members + room - 4, 4, "...");
}

/* The neighbours beyond the edges of a grid that is not periodic, a bit each. From the 65th on all
   neighbours count as present. */
static uint64_t absent_in_grid(MPI_Comm comm, int dimensions)
{
    uint64_t absent = 0;
    for (int i = 0; i < dimensions && i < 32; i++) {
        int before, after;
        PMPI_Cart_shift(comm, i, 1, &before, &after);
        absent |= (uint64_t)(before == MPI_PROC_NULL) << (2 * i);
        absent |= (uint64_t)(after == MPI_PROC_NULL) << (2 * i + 1);
    }
    return absent;
}

static void describe_neighbours(MPI_Comm comm, struct communicator *record)
{
    int topology = MPI_UNDEFINED, dimensions, sources, weighted;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &dimensions);
        record->neighbours = 2 * dimensions;
        record->absent = absent_in_grid(comm, dimensions);
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, record->rank, &record->neighbours);
    } else if (topology == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &sources, &record->neighbours, &weighted);
    }
}

/* Sizes, rank and neighbours of a communicator. */
static struct communicator describe_shape(MPI_Comm comm)
{
    struct communicator record = {.order = 2};
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    record.is_inter = is_inter != 0;
    PMPI_Comm_rank(comm, &record.rank);
    PMPI_Comm_size(comm, &record.size);
    record.processes = record.peers = record.size;
    if (record.is_inter) {
        PMPI_Comm_remote_size(comm, &record.peers);
        record.processes = record.size + record.peers;
    } else {
        describe_neighbours(comm, &record);
    }
    return record;
}

/* All that MPI knows of a communicator. The identity is only the hash of the members yet. */
static struct communicator describe(MPI_Comm comm)
{
    struct communicator record = describe_shape(comm);
    MPI_Group group = MPI_GROUP_EMPTY;
    PMPI_Comm_group(comm, &group);
    if (record.is_inter) {
        MPI_Group own = group, remote = MPI_GROUP_EMPTY;
        PMPI_Comm_remote_group(comm, &remote);
        PMPI_Group_union(own, remote, &group);
        PMPI_Group_free(&own);
        PMPI_Group_free(&remote);
    }
    int *const ranks = ranks_in_world(group, record.processes);
    if (ranks != NULL) {
        /* The two groups of an intercommunicator list themselves first, and must find the same. */
        if (record.is_inter)
            qsort(ranks, (size_t)record.processes, sizeof *ranks, ascending);
        record.identity = hash(HASH_START, ranks, (size_t)record.processes * sizeof *ranks);
        format_members(&record, ranks, record.processes);
        free(ranks);
    }
    PMPI_Group_free(&group);
    if (record.processes == 1)
        record.identity = HASH_START;
    return record;
}

static void recycle(int number)
{
    const struct communicator *const record = &communicators[number];
    if (record->is_named)
        (void)handle_set(&identities, record->identity, GIVEN_UP);
    else
        (void)handle_remove(&identities, record->identity);
    state[number] = FREE;
    if (number < lowest_free)
        lowest_free = number;
}

/* The handle is no longer valid. */
static void forget(MPI_Comm comm, int number)
{
    (void)handle_remove(&communicator_numbers, communicator_key(comm));
    if (number == OTHER_COMMUNICATORS)
        return;
    const struct communicator *const record = &communicators[number];
    state[number] = FREED;
    if (!record->is_named && record->ordinal < handle_find(&lowest_ordinals, record->alike))
        (void)handle_set(&lowest_ordinals, record->alike, record->ordinal);
    if (holds[number] == 0)
        recycle(number);
}

/* Sets the record's ordinal and identity. Returns the number of a freed communicator that had this
   identity, or HANDLE_UNKNOWN. */
static int find_identity(struct communicator *record)
{
    const int lowest = handle_find(&lowest_ordinals, record->alike);
    record->ordinal = lowest == HANDLE_UNKNOWN ? 1 : lowest;
    for (;; record->ordinal++) {
        record->identity = hash(record->alike, &record->ordinal, sizeof record->ordinal);
        const int number = handle_find(&identities, record->identity);
        if (number == HANDLE_UNKNOWN ||
            (number != GIVEN_UP && state[number] == FREED && !communicators[number].is_named)) {
            (void)handle_set(&lowest_ordinals, record->alike, record->ordinal + 1);
            return number;
        }
    }
}

/* Completes the record's identity, names it, and gives the handle a number, which is returned. A
   handle that MPI has just made is new, whatever it stood for before. */
static int enter(MPI_Comm comm, struct communicator record, const char *maker, bool is_new)
{
    record.alike = hash(record.identity, maker, strlen(maker));
    monitor_lock();
    int number = communicator_find(comm);
    if (number != HANDLE_UNKNOWN && !is_new) {
        monitor_unlock(); /* another thread was quicker */
        return number;
    }
    if (number != HANDLE_UNKNOWN)
        forget(comm, number);
    number = find_identity(&record);
    (void)snprintf(record.name, sizeof record.name, "%.48s %d", maker, record.ordinal);
    if (number == HANDLE_UNKNOWN) {
        while (lowest_free < COMMUNICATORS_MAX && state[lowest_free] != FREE)
            lowest_free++;
        number = lowest_free < COMMUNICATORS_MAX ? lowest_free : OTHER_COMMUNICATORS;
    }
    if (number != OTHER_COMMUNICATORS) {
        communicators[number] = record;
        state[number] = LIVE;
        (void)handle_set(&identities, record.identity, number);
    }
    const bool is_known = handle_set(&communicator_numbers, communicator_key(comm), number);
    monitor_unlock();
    return is_known ? number : OTHER_COMMUNICATORS;
}

void communicator_duplicated(MPI_Comm comm, MPI_Comm original, const char *maker)
{
    if (comm != MPI_COMM_NULL && started)
        (void)enter(comm, describe(original), maker, true);
}

void communicator_created(MPI_Comm comm, const char *maker)
{
    communicator_duplicated(comm, comm, maker);
}

int communicator_index(MPI_Comm comm)
{
    monitor_lock();
    const int number = communicator_find(comm);
    monitor_unlock();
    if (number != HANDLE_UNKNOWN)
        return number;
    if (comm == MPI_COMM_NULL || !started)
        return NULL_COMMUNICATOR; /* an error of the program's, which MPI will report */
    return enter(comm, describe(comm), "communicator", false);
}

const struct communicator *communicator_record(MPI_Comm comm, int number,
                                               struct communicator *described)
{
    if (__builtin_expect(number != OTHER_COMMUNICATORS, 1))
        return &communicators[number];
    *described = comm != MPI_COMM_NULL ? describe_shape(comm) : communicators[OTHER_COMMUNICATORS];
    return described;
}

void communicator_freed(MPI_Comm comm, int number)
{
    monitor_lock();
    if (communicator_find(comm) == number)
        forget(comm, number);
    monitor_unlock();
}

void communicators_tidy(void)
{
    for (int number = 1; number < COMMUNICATORS_MAX; number++)
        if (state[number] == FREED && holds[number] == 0)
            recycle(number);
}

void communicator_hold(int communicator) { holds[communicator]++; }

/* communicators_tidy gives the number up if the communicator has been freed. */
void communicator_release(int communicator) { holds[communicator]--; }

void communicator_named(MPI_Comm comm, const char *name)
{
    const int number = communicator_index(comm);
    if (number == OTHER_COMMUNICATORS || name[0] == '\0')
        return;
    monitor_lock();
    (void)snprintf(communicators[number].name, sizeof communicators[number].name, "%s", name);
    communicators[number].is_named = true;
    monitor_unlock();
}

static void enter_predefined(MPI_Comm comm, const char *name, int order)
{
    communicator_created(comm, name);
    communicator_named(comm, name);
    communicators[communicator_index(comm)].order = order;
}

void communicators_start(void)
{
    started = true;
    enter_predefined(MPI_COMM_WORLD, "MPI_COMM_WORLD", 0);
    enter_predefined(MPI_COMM_SELF, "MPI_COMM_SELF", 1);
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        communicator_created(parent, "MPI_Comm_get_parent");
}
