/* Memory that the ranks of a node share; packed messages between nodes. */
#include "halo/swap/internal.h"

#include "common/coarray/coarray.h"
#include "common/mpi/mpi_check.h"
#include "halo/swap/packed.h"

#include <stdlib.h>
#include <string.h>

/* Ranks copy their halos out of the arrays of neighbours on the node; other faces are packed. */
struct shared_swap {
    MPI_Win window; /* in a passive epoch all its life */
    int count;      /* of faces whose neighbours are on this node */
    int faces[HALO_FACES];
    const double *arrays[HALO_FACES]; /* these neighbours' */
    int peer_count;                   /* these neighbours, each once and without this rank */
    int peers[HALO_FACES];
    MPI_Request requests[2 * HALO_FACES];
    MPI_Status *statuses;   /* MPI_STATUSES_IGNORE */
    struct halo_packed far; /* the faces of other nodes */
};

/* The neighbours' ranks in node_comm, MPI_UNDEFINED for those on other nodes. */
static void find_on_node(const struct halo_grid *grid, MPI_Comm comm, MPI_Comm node_comm,
                         int node_ranks[HALO_FACES])
{
    MPI_Group all, node;
    BC_MPI(MPI_Comm_group(comm, &all));
    BC_MPI(MPI_Comm_group(node_comm, &node));
    BC_MPI(MPI_Group_translate_ranks(all, HALO_FACES, grid->neighbours, node, node_ranks));
    BC_MPI(MPI_Group_free(&all));
    BC_MPI(MPI_Group_free(&node));
}

struct halo_neighbourhood halo_neighbourhood_of(const struct halo_grid *grid, MPI_Comm comm,
                                                MPI_Comm node_comm)
{
    struct halo_neighbourhood n = {.faces = HALO_FACES};
    int node_ranks[HALO_FACES];
    find_on_node(grid, comm, node_comm, node_ranks);
    for (int face = 0; face < HALO_FACES; face++) {
        const bool near = node_ranks[face] != MPI_UNDEFINED;
        n.on_node += near && grid->neighbours[face] != grid->rank;
        n.off_node += !near;
    }
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &n, 3, MPI_INT64_T, MPI_SUM, comm));
    return n;
}

/* Zeros, in whole pages: see bc_window_bytes. Collective over the node's ranks. */
static void allocate_shared(struct shared_swap *shared, struct halo_exchange *x)
{
    const MPI_Aint bytes = bc_window_bytes(halo_array_values(&x->box));
    BC_MPI(MPI_Win_allocate_shared(bytes, (int)sizeof(double), MPI_INFO_NULL, x->node_comm,
                                   (void *)&x->values, &shared->window));
    BC_MPI(MPI_Win_set_errhandler(shared->window, MPI_ERRORS_RETURN));
    memset(x->values, 0, (size_t)bytes);
    BC_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, shared->window));
}

static void add_peer(struct shared_swap *shared, int rank)
{
    for (int i = 0; i < shared->peer_count; i++)
        if (shared->peers[i] == rank)
            return;
    shared->peers[shared->peer_count++] = rank;
}

static void create_shared(struct halo_exchange *x)
{
    struct shared_swap *const shared = halo_allocate_own(x, sizeof *shared);
    int node_ranks[HALO_FACES], unit_bytes;
    MPI_Aint bytes;
    bool far[HALO_FACES];
    shared->statuses = MPI_STATUSES_IGNORE;
    allocate_shared(shared, x);
    find_on_node(&x->grid, x->comm, x->node_comm, node_ranks);
    for (int face = 0; face < HALO_FACES; face++) {
        far[face] = node_ranks[face] == MPI_UNDEFINED;
        if (far[face])
            continue;
        const int i = shared->count++;
        shared->faces[i] = face;
        BC_MPI(MPI_Win_shared_query(shared->window, node_ranks[face], &bytes, &unit_bytes,
                                    (void *)&shared->arrays[i]));
        if (x->grid.neighbours[face] != x->grid.rank)
            add_peer(shared, x->grid.neighbours[face]);
    }
    halo_packed_init(&shared->far, x, far);
}

static void destroy_shared(struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    halo_packed_free(&shared->far);
    BC_MPI(MPI_Win_unlock_all(shared->window));
    BC_MPI(MPI_Win_free(&shared->window));
    free(shared);
}

/* Returns when the neighbours on this node have called it as often; what either side stored before
   that the other one sees. */
static void meet_peers(const struct halo_exchange *x, struct shared_swap *shared)
{
    MPI_Request *request = shared->requests;
    BC_MPI(MPI_Win_sync(shared->window));
    for (int i = 0; i < shared->peer_count; i++) {
        const int peer = shared->peers[i];
        BC_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, peer, HALO_NOTIFICATION_TAG, x->comm, request++));
        BC_MPI(MPI_Isend(NULL, 0, MPI_BYTE, peer, HALO_NOTIFICATION_TAG, x->comm, request++));
    }
    BC_MPI(MPI_Waitall(2 * shared->peer_count, shared->requests, shared->statuses));
    BC_MPI(MPI_Win_sync(shared->window));
}

static void swap_shared(const struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    halo_packed_start(x, &shared->far);
    meet_peers(x, shared); /* the neighbours' layers are ready */
    for (int i = 0; i < shared->count; i++) {
        const int face = shared->faces[i];
        halo_copy(&x->box, &x->sent[halo_opposite(face)], shared->arrays[i], &x->received[face],
                  x->values);
    }
    meet_peers(x, shared); /* they have read this rank's */
    halo_packed_finish(x, &shared->far);
}

const struct halo_method halo_method_shared = {
    .name = "shared window",
    .sync = HALO_SYNC_NONE,
    .create = create_shared,
    .swap = swap_shared,
    .destroy = destroy_shared,
    .in_window = true,
    .shares_node = true,
    .packs = true,
};
