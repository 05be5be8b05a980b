/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/describe.h"

#include "common/job/hosts.h"
#include "monitor/lib/count/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Group world_group;

void describe_start(void) { PMPI_Comm_group(MPI_COMM_WORLD, &world_group); }

void describe_end(void) { PMPI_Group_free(&world_group); }

/* Returns a bit for each neighbour beyond the edges of a grid that isn't periodic, up to the
   64th. */
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

struct communicator describe_shape(MPI_Comm comm)
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

/* Open MPI gives duplicates the group of the original. */
void translate_ranks(MPI_Group group, int count, const int ranks[], int world[])
{
    if (group == world_group)
        memcpy(world, ranks, (size_t)count * sizeof *world);
    else if (count > 0)
        PMPI_Group_translate_ranks(group, count, ranks, world_group, world);
}

static uint64_t hash_of_members(MPI_Group group, int size)
{
    enum { SOME_MAX = 33 };
    int some[SOME_MAX], world[SOME_MAX], count = 0;
    for (int64_t member = 0; member < size; member = member == 0 ? 1 : 2 * member)
        some[count++] = (int)member;
    if (count > 0 && some[count - 1] != size - 1)
        some[count++] = size - 1;
    translate_ranks(group, count, some, world);
    return hash(hash(HASH_START, &size, sizeof size), world, (size_t)count * sizeof *world);
}

struct communicator describe(MPI_Comm comm)
{
    struct communicator record = describe_shape(comm);
    record.group[1] = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &record.group[0]);
    record.identity = hash_of_members(record.group[0], record.size);
    if (record.is_inter) {
        /* The same from both sides. */
        PMPI_Comm_remote_group(comm, &record.group[1]);
        record.identity += hash_of_members(record.group[1], record.peers);
    }
    if (record.processes == 1)
        record.identity = HASH_START;
    return record;
}

static int ascending(const void *left, const void *right)
{
    const int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

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

void communicator_find_members(struct communicator *record)
{
    if (record->members[0] != '\0')
        return;
    int *const ranks = malloc(2 * (size_t)record->processes * sizeof *ranks);
    if (ranks == NULL)
        return;
    int *const world = ranks + record->processes;
    for (int i = 0; i < record->processes; i++)
        ranks[i] = i;
    translate_ranks(record->group[0], record->size, ranks, world);
    if (record->is_inter)
        translate_ranks(record->group[1], record->peers, ranks, world + record->size);
    format_members(record, world, record->processes);
    free(ranks);
}
