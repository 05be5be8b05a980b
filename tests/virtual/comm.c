/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, groups and topologies. Each communicator is a duplicate of MPI_COMM_SELF of the
   real library, by whose handle a rank finds its members. */
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *real_function(const char *name) { return dlsym(RTLD_NEXT, name); }

/* ---- what this rank has ---------------------------------------------------------------------- */

struct entry {
    MPI_Comm handle;
    struct own_comm own;
};

static struct entry *entries;
static int entry_count;

static struct entry *find_entry(MPI_Comm handle)
{
    static int last;
    if (last < entry_count && entries[last].handle == handle)
        return &entries[last];
    for (int i = 0; i < entry_count; i++)
        if (entries[i].handle == handle) {
            last = i;
            return &entries[i];
        }
    world_abort("no such communicator");
}

struct own_comm comm_find(MPI_Comm handle) { return find_entry(handle)->own; }

int comms_left(void) { return entry_count - 2; } /* all but MPI_COMM_WORLD and MPI_COMM_SELF */

static void add_entry(MPI_Comm handle, struct comm *comm, int rank)
{
    entries = world_grow(entries, (size_t)entry_count + 1, sizeof *entries);
    entries[entry_count++] = (struct entry){handle, {comm, rank}};
}

/* ---- making them ----------------------------------------------------------------------------- */

static struct comm *make_comm(int size)
{
    static int made;
    struct comm *const comm = world_allocate(sizeof *comm);
    /* Ids differ from rank to rank that makes them. */
    *comm = (struct comm){.id = made++ * world->ranks + world_rank, .size = size, .users = size};
    comm->members = world_allocate((size_t)size * sizeof *comm->members);
    comm->posted = world_allocate((size_t)size * sizeof *comm->posted);
    comm->mailboxes = world_allocate((size_t)size * sizeof *comm->mailboxes);
    return comm;
}

static MPI_Comm enter(struct comm *comm, int rank)
{
    MPI_Comm handle;
    REAL(Comm_dup)(MPI_COMM_SELF, &handle);
    add_entry(handle, comm, rank);
    return handle;
}

void comm_begin(void)
{
    if (world->comms == NULL) {
        struct comm *const all = make_comm(world->ranks);
        for (int rank = 0; rank < world->ranks; rank++)
            all->members[rank] = rank;
        world->comms = all;
    }
    add_entry(MPI_COMM_WORLD, world->comms, world_rank);
    struct comm *const self = make_comm(1);
    self->members[0] = world_rank;
    add_entry(MPI_COMM_SELF, self, 0);
}

/* How a member takes part in a split. */
struct part {
    int color, key, world_rank, place; /* place: rank in the communicator that is split */
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *const left = a, *const right = b;
    if (left->key != right->key)
        return (left->key > right->key) - (left->key < right->key);
    return left->place - right->place;
}

/* The members of a color in their new order. Returns the number of them and this rank's place. */
static int list_members(const struct collective *all, int size, const struct part *own,
                        struct part *members, int *rank)
{
    int count = 0;
    for (int i = 0; i < size; i++) {
        members[count] = *(const struct part *)meeting_of(all, i);
        count += members[count].color == own->color;
    }
    qsort(members, (size_t)count, sizeof *members, compare_parts);
    for (int i = 0; i < count; i++)
        if (members[i].place == own->place)
            *rank = i;
    return count;
}

/* Splits a communicator; *made and *rank are this rank's part, NULL without a color. */
static void split(const struct own_comm *own, int color, int key, struct comm **made, int *rank)
{
    const struct part mine = {color, key, world_rank, own->rank};
    struct collective *const all = meeting(own, &mine, sizeof mine);
    const int size = own->comm->size;
    struct part *const members = malloc((size_t)size * sizeof *members);
    *made = NULL;
    if (color != MPI_UNDEFINED) {
        const int count = list_members(all, size, &mine, members, rank);
        void **const place = meeting_made(all, members[0].place);
        if (*place == NULL) {
            struct comm *const new = make_comm(count);
            for (int i = 0; i < count; i++)
                new->members[i] = members[i].world_rank;
            *place = new;
        }
        *made = *place;
    }
    free(members);
    meeting_end(all, own);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    const struct own_comm own = comm_find(comm);
    struct comm *part;
    int rank = 0;
    split(&own, color, key, &part, &rank);
    *made = part != NULL ? enter(part, rank) : MPI_COMM_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_split)

/* A rank's digit in the variable; -1: there is none. */
static int digit_of(const char *variable, int of_rank)
{
    const char *const digits = getenv(variable);
    return digits != NULL && (int)strlen(digits) > of_rank ? digits[of_rank] - '0' : -1;
}

int node_of(int of_rank)
{
    const int node = digit_of("VIRTUAL_NODE_OF", of_rank);
    if (node >= 0)
        return node;
    const int per_node = (world->ranks + (int)parameters.nodes - 1) / (int)parameters.nodes;
    return of_rank / per_node;
}

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    (void)info;
    const int color = type == MPI_COMM_TYPE_SHARED ? node_of(world_rank) : MPI_UNDEFINED;
    return PMPI_Comm_split(comm, color, key, made);
}
MPI_NAME(Comm_split_type)

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void) { return parameters.device_claim != 0.0; }

#if MPI_VERSION >= 4
/* The kinds of memory that the library claims to take: MODEL_MEMORY_KINDS. */
int PMPI_Info_get_string(MPI_Info info, const char *key, int *length, char *value, int *found)
{
    const char *const kinds = getenv("MODEL_MEMORY_KINDS");
    (void)info;
    *found = kinds != NULL && strcmp(key, "mpi_memory_alloc_kinds") == 0;
    *length = *found ? snprintf(value, (size_t)*length, "%s", kinds) + 1 : 0;
    return MPI_SUCCESS;
}
MPI_NAME(Info_get_string)
#endif

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    const struct own_comm own = comm_find(comm);
    PMPI_Comm_split(comm, 0, own.rank, made);
    struct comm *const copy = comm_find(*made).comm;
    copy->dimensions = own.comm->dimensions;
    memcpy(copy->extents, own.comm->extents, sizeof copy->extents);
    memcpy(copy->periodic, own.comm->periodic, sizeof copy->periodic);
    return MPI_SUCCESS;
}
MPI_NAME(Comm_dup)

int PMPI_Comm_free(MPI_Comm *comm)
{
    struct entry *const entry = find_entry(*comm);
    struct comm *const shared = entry->own.comm;
    if (--shared->users == 0) {
        const size_t size = (size_t)shared->size;
        world_release(shared->members, size * sizeof *shared->members);
        world_release(shared->posted, size * sizeof *shared->posted);
        world_release(shared->mailboxes, size * sizeof *shared->mailboxes);
        world_release(shared, sizeof *shared);
    }
    *entry = entries[--entry_count];
    return REAL(Comm_free)(comm);
}
MPI_NAME(Comm_free)

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    *rank = comm_find(comm).rank;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_rank)

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = comm_find(comm).comm->size;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_size)

int PMPI_Get_processor_name(char *name, int *length)
{
    const int host = digit_of("VIRTUAL_HOST_OF", world_rank);
    *length =
        snprintf(name, MPI_MAX_PROCESSOR_NAME, "virtual%d", host >= 0 ? host : node_of(world_rank));
    return MPI_SUCCESS;
}
MPI_NAME(Get_processor_name)

/* ---- groups ---------------------------------------------------------------------------------- */

/* Ranks of the world. A group's handle is its number. */
struct group {
    int size;
    int *members; /* NULL: free */
};

enum { GROUP_BASE = 0x3c000000, GROUPS_MAX = 4096 };
static struct group groups[GROUPS_MAX];

int groups_left(void)
{
    int count = 0;
    for (int i = 0; i < GROUPS_MAX; i++)
        count += groups[i].members != NULL;
    return count;
}

static MPI_Group add_group(const int *members, int size)
{
    int i = 0;
    while (i < GROUPS_MAX && groups[i].members != NULL)
        i++;
    if (i == GROUPS_MAX)
        world_abort("too many groups");
    groups[i] = (struct group){size, malloc((size_t)(size + 1) * sizeof *members)};
    memcpy(groups[i].members, members, (size_t)size * sizeof *members);
    return (MPI_Group)(uintptr_t)(GROUP_BASE + i);
}

static struct group *find_group(MPI_Group group)
{
    const uintptr_t i = (uintptr_t)group - GROUP_BASE;
    if (i >= GROUPS_MAX || groups[i].members == NULL)
        world_abort("no such group");
    return &groups[i];
}

#ifdef OPEN_MPI
/* As requests' numbers, see requests.c. */
MPI_Fint PMPI_Group_c2f(MPI_Group group)
{
    return group == MPI_GROUP_NULL ? 0 : (MPI_Fint)(uintptr_t)group;
}
MPI_NAME(Group_c2f)

MPI_Group PMPI_Group_f2c(MPI_Fint number)
{
    return number == 0 ? MPI_GROUP_NULL : (MPI_Group)(uintptr_t)number;
}
MPI_NAME(Group_f2c)
#endif

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    const struct comm *const shared = comm_find(comm).comm;
    *group = add_group(shared->members, shared->size);
    return MPI_SUCCESS;
}
MPI_NAME(Comm_group)

int PMPI_Group_size(MPI_Group group, int *size)
{
    *size = find_group(group)->size;
    return MPI_SUCCESS;
}
MPI_NAME(Group_size)

int PMPI_Group_incl(MPI_Group group, int count, const int ranks[], MPI_Group *made)
{
    const struct group *const all = find_group(group);
    int *const members = malloc((size_t)(count + 1) * sizeof *members);
    for (int i = 0; i < count; i++)
        members[i] = all->members[ranks[i]];
    *made = add_group(members, count);
    free(members);
    return MPI_SUCCESS;
}
MPI_NAME(Group_incl)

int PMPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to,
                               int others[])
{
    const struct group *const source = find_group(from), *const target = find_group(to);
    for (int i = 0; i < count; i++) {
        others[i] = ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_UNDEFINED;
        for (int j = 0; ranks[i] != MPI_PROC_NULL && j < target->size; j++)
            if (target->members[j] == source->members[ranks[i]])
                others[i] = j;
    }
    return MPI_SUCCESS;
}
MPI_NAME(Group_translate_ranks)

int PMPI_Group_free(MPI_Group *group)
{
    struct group *const own = find_group(*group);
    free(own->members);
    own->members = NULL;
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Group_free)

/* ---- Cartesian topologies -------------------------------------------------------------------- */

int PMPI_Cart_create(MPI_Comm comm, int dimensions, const int extents[], const int periodic[],
                     int reorder, MPI_Comm *made)
{
    const struct own_comm own = comm_find(comm);
    int size = 1;
    (void)reorder;
    for (int d = 0; d < dimensions; d++)
        size *= extents[d];
    if (dimensions > DIMENSIONS_MAX)
        world_abort("a grid of more than %d dimensions", DIMENSIONS_MAX);
    PMPI_Comm_split(comm, own.rank < size ? 0 : MPI_UNDEFINED, own.rank, made);
    if (*made == MPI_COMM_NULL)
        return MPI_SUCCESS;
    struct comm *const grid = comm_find(*made).comm;
    grid->dimensions = dimensions;
    for (int d = 0; d < dimensions; d++) {
        grid->extents[d] = extents[d];
        grid->periodic[d] = periodic[d] != 0;
    }
    return MPI_SUCCESS;
}
MPI_NAME(Cart_create)

/* The rank `steps` further in a dimension. */
static int shifted(const struct comm *grid, int rank, int dimension, int steps)
{
    int stride = 1;
    for (int d = grid->dimensions - 1; d > dimension; d--)
        stride *= grid->extents[d];
    const int extent = grid->extents[dimension];
    const int here = rank / stride % extent;
    const int there = here + steps;
    if ((there < 0 || there >= extent) && !grid->periodic[dimension])
        return MPI_PROC_NULL;
    return rank + ((there % extent + extent) % extent - here) * stride;
}

int PMPI_Cart_shift(MPI_Comm comm, int dimension, int steps, int *source, int *destination)
{
    const struct own_comm own = comm_find(comm);
    *source = shifted(own.comm, own.rank, dimension, -steps);
    *destination = shifted(own.comm, own.rank, dimension, steps);
    return MPI_SUCCESS;
}
MPI_NAME(Cart_shift)

int comm_neighbours(const struct comm *comm, int rank, int neighbours[2 * DIMENSIONS_MAX])
{
    for (int d = 0; d < comm->dimensions; d++) {
        int *const sides = neighbours + (ptrdiff_t)2 * d;
        sides[0] = shifted(comm, rank, d, -1);
        sides[1] = shifted(comm, rank, d, 1);
    }
    return 2 * comm->dimensions;
}

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    *status = comm_find(comm).comm->dimensions > 0 ? MPI_CART : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
MPI_NAME(Topo_test)

int PMPI_Cartdim_get(MPI_Comm comm, int *dimensions)
{
    *dimensions = comm_find(comm).comm->dimensions;
    return MPI_SUCCESS;
}
MPI_NAME(Cartdim_get)
