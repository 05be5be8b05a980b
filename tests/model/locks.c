#include "locks.h"

#include <mpi.h>
#include <stddef.h>

/* A cache line each. */
struct lock {
    _Alignas(64) _Atomic int64_t held_until_ns;
};

static MPI_Comm node;
static MPI_Win memory; /* of the locks, where there are any */
static struct lock *locks;

void locks_start(void)
{
    int ranks;
    int rank;
    int node_ranks;
    int all_here;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &node_ranks);
    all_here = node_ranks == ranks;
    PMPI_Bcast(&all_here, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!all_here)
        return;

    void *own;
    MPI_Aint bytes;
    int unit_bytes;
    PMPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)(sizeof *locks * (size_t)ranks) : 0, 1,
                             MPI_INFO_NULL, node, &own, &memory);
    PMPI_Win_shared_query(memory, 0, &bytes, &unit_bytes, &own);
    locks = own;
    for (int i = 0; rank == 0 && i < ranks; i++)
        atomic_store(&locks[i].held_until_ns, 0);
    PMPI_Barrier(node);
}

void locks_finish(void)
{
    if (locks != NULL)
        PMPI_Win_free(&memory);
    PMPI_Comm_free(&node);
}

_Atomic int64_t *lock_held_until(int world_rank)
{
    return locks != NULL ? &locks[world_rank].held_until_ns : NULL;
}
