#include "halo/shared_window.h"

#include "common/mpi/coarray.h"
#include "common/mpi/mpi_check.h"
#include "halo/copy.h"
#include "halo/packed.h"

#include <stdlib.h>
#include <string.h>

/* Of the notifications; faces have theirs, from 0 on. */
enum { TAG = HALO_FACES };

struct shared {
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

/* ---- who is where ---------------------------------------------------------------------------- */

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
    int node_ranks[HALO_FACES], rank;
    int64_t counts[3] = {HALO_FACES, 0, 0};
    BC_MPI(MPI_Comm_rank(comm, &rank));
    find_on_node(grid, comm, node_comm, node_ranks);
    for (int face = 0; face < HALO_FACES; face++) {
        const bool near = node_ranks[face] != MPI_UNDEFINED;
        counts[1] += near && grid->neighbours[face] != rank;
        counts[2] += !near;
    }
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPI_INT64_T, MPI_SUM, comm));
    return (struct halo_neighbourhood){counts[0], counts[1], counts[2]};
}

/* ---- the window ------------------------------------------------------------------------------ */

/* Zeros, in whole pages for the reason that bc_window_bytes gives. Collective over
   the node's ranks. */
static void allocate(struct shared *shared, struct halo_exchange *x)
{
    const MPI_Aint bytes = bc_window_bytes(halo_array_values(&x->box));
    BC_MPI(MPI_Win_allocate_shared(bytes, (int)sizeof(double), MPI_INFO_NULL, x->node_comm,
                                   (void *)&x->values, &shared->window));
    BC_MPI(MPI_Win_set_errhandler(shared->window, MPI_ERRORS_RETURN));
    memset(x->values, 0, (size_t)bytes);
    BC_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, shared->window));
}

static const double *array_of(const struct shared *shared, int node_rank)
{
    MPI_Aint bytes;
    int unit_bytes;
    double *values;
    BC_MPI(MPI_Win_shared_query(shared->window, node_rank, &bytes, &unit_bytes, (void *)&values));
    return values;
}

static void add_peer(struct shared *shared, int rank)
{
    for (int i = 0; i < shared->peer_count; i++)
        if (shared->peers[i] == rank)
            return;
    shared->peers[shared->peer_count++] = rank;
}

void halo_shared_create(struct halo_exchange *exchange)
{
    struct halo_exchange *const x = exchange;
    struct shared *const shared = halo_allocate(sizeof *shared);
    int node_ranks[HALO_FACES], rank;
    bool far[HALO_FACES];
    x->own = shared;
    shared->statuses = MPI_STATUSES_IGNORE;
    allocate(shared, x);
    BC_MPI(MPI_Comm_rank(x->comm, &rank));
    find_on_node(&x->grid, x->comm, x->node_comm, node_ranks);
    for (int face = 0; face < HALO_FACES; face++) {
        far[face] = node_ranks[face] == MPI_UNDEFINED;
        if (far[face])
            continue;
        shared->faces[shared->count] = face;
        shared->arrays[shared->count++] = array_of(shared, node_ranks[face]);
        if (x->grid.neighbours[face] != rank)
            add_peer(shared, x->grid.neighbours[face]);
    }
    halo_packed_create(&shared->far, x, far);
}

void halo_shared_destroy(struct halo_exchange *exchange)
{
    struct shared *const shared = exchange->own;
    halo_packed_destroy(&shared->far);
    BC_MPI(MPI_Win_unlock_all(shared->window));
    BC_MPI(MPI_Win_free(&shared->window));
    free(shared);
}

/* ---- the swap -------------------------------------------------------------------------------- */

/* Returns when the neighbours on this node have called it as often; what either
   side stored before that the other one sees. */
static void meet_peers(const struct halo_exchange *x, struct shared *shared)
{
    MPI_Request *request = shared->requests;
    BC_MPI(MPI_Win_sync(shared->window));
    for (int i = 0; i < shared->peer_count; i++) {
        const int peer = shared->peers[i];
        BC_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, peer, TAG, x->comm, request++));
        BC_MPI(MPI_Isend(NULL, 0, MPI_BYTE, peer, TAG, x->comm, request++));
    }
    BC_MPI(MPI_Waitall(2 * shared->peer_count, shared->requests, shared->statuses));
    BC_MPI(MPI_Win_sync(shared->window));
}

void halo_shared_swap(const struct halo_exchange *exchange)
{
    const struct halo_exchange *const x = exchange;
    struct shared *const shared = x->own;
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
