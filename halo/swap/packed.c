/* Faces in messages, packed into contiguous buffers: all six, or, beside memory that the ranks of a
   node share, those that cross nodes. */
#include "common/coarray/coarray.h"
#include "common/large_count/large_count.h"
#include "common/mpi/mpi_check.h"
#include "halo/swap/methods.h"

#include <stdlib.h>
#include <string.h>

/* All arrays are in the order of `faces`. */
struct packed {
    int count; /* of faces that go so */
    int faces[HALO_FACES];
    double *sent[HALO_FACES], *received[HALO_FACES]; /* buffers */
    struct bc_amount amounts[HALO_FACES];            /* of values in each buffer */
    MPI_Request requests[2 * HALO_FACES];            /* `count` receives, then as many sends */
    MPI_Status *statuses;                            /* MPI_STATUSES_IGNORE */
};

/* Makes the buffers of the faces that are chosen. */
static void init(struct packed *packed, const struct halo_exchange *x,
                 const bool chosen[HALO_FACES])
{
    *packed = (struct packed){.statuses = MPI_STATUSES_IGNORE};
    for (int face = 0; face < HALO_FACES; face++) {
        if (!chosen[face])
            continue;
        const int64_t values = halo_face_values(&x->box, face);
        const int i = packed->count++;
        packed->faces[i] = face;
        packed->sent[i] = halo_allocate_values(values);
        packed->received[i] = halo_allocate_values(values);
        bc_amount_create(&packed->amounts[i], values, MPI_DOUBLE);
    }
}

static void release(struct packed *packed)
{
    for (int i = 0; i < packed->count; i++) {
        free(packed->sent[i]);
        free(packed->received[i]);
        bc_amount_destroy(&packed->amounts[i]);
    }
}

/* Posts the receives, and packs and sends each face. The tag of a message is the face where it is
   received, since the neighbours on both sides may be the same rank. */
static void start(const struct halo_exchange *x, struct packed *packed)
{
    MPI_Request *const receives = packed->requests, *const sends = receives + packed->count;
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        BC_MPI(MPI_Irecv(packed->received[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], face, x->comm, &receives[i]));
    }
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        halo_pack(&x->box, &x->sent[face], x->values, packed->sent[i]);
        BC_MPI(MPI_Isend(packed->sent[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], halo_opposite(face), x->comm, &sends[i]));
    }
}

static inline void unpack(const struct halo_exchange *x, const struct packed *packed, int i)
{
    halo_unpack(&x->box, &x->received[packed->faces[i]], packed->received[i], x->values);
}

/* Unpacks faces that tests of the requests have found to have arrived. Then unpacks each other face
   when it has arrived, by MPI_Waitany, so that one face is unpacked while others are on their way;
   then waits for the sends. */
static void finish(const struct halo_exchange *x, struct packed *packed)
{
    MPI_Request *const receives = packed->requests, *const sends = receives + packed->count;
    int pending = packed->count;
    for (int i = 0; i < packed->count; i++)
        if (receives[i] == MPI_REQUEST_NULL) {
            unpack(x, packed, i);
            pending--;
        }
    for (; pending > 0; pending--) {
        int i;
        BC_MPI(MPI_Waitany(packed->count, receives, &i, MPI_STATUS_IGNORE));
        unpack(x, packed, i);
    }
    BC_MPI(MPI_Waitall(packed->count, sends, packed->statuses));
}

/* ---- all faces packed ------------------------------------------------------------------------ */

static void create_packed(struct halo_exchange *x)
{
    static const bool all[HALO_FACES] = {true, true, true, true, true, true};
    struct packed *const packed = x->own = bc_allocate(1, sizeof *packed, "no memory for a swap");
    init(packed, x, all);
    x->values = halo_allocate_values(halo_array_values(&x->box));
    x->requests = packed->requests;
    x->request_count = 2 * HALO_FACES;
}

static void destroy_packed(struct halo_exchange *x)
{
    release(x->own);
    free(x->values);
    free(x->own);
}

static void start_packed(const struct halo_exchange *x) { start(x, x->own); }

static void finish_packed(const struct halo_exchange *x) { finish(x, x->own); }

static void swap_packed(const struct halo_exchange *x)
{
    start_packed(x);
    finish_packed(x);
}

/* All faces are packed, so entry i of each array is that of face i. */
static void swap_packed_blocking(const struct halo_exchange *x)
{
    const struct packed *const packed = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        const int side = halo_opposite(face); /* of the halo, where it is received */
        const struct bc_amount *const amount = &packed->amounts[face];
        halo_pack(&x->box, &x->sent[face], x->values, packed->sent[face]);
        BC_MPI(MPI_Sendrecv(packed->sent[face], amount->count, amount->type,
                            x->grid.neighbours[face], side, packed->received[side], amount->count,
                            amount->type, x->grid.neighbours[side], side, x->comm,
                            MPI_STATUS_IGNORE));
        unpack(x, packed, side);
    }
}

const struct halo_method halo_method_packed = {
    .name = "isend/irecv packed",
    .sync = HALO_SYNC_NONE,
    .create = create_packed,
    .swap = swap_packed,
    .start = start_packed,
    .finish = finish_packed,
    .blocking = swap_packed_blocking,
    .destroy = destroy_packed,
    .packs = true,
};

/* ---- memory that the ranks of a node share --------------------------------------------------- */

/* Ranks copy their halos out of the arrays of neighbours on the node; other faces are packed. */
struct shared_swap {
    MPI_Win window; /* in a passive epoch all its life */
    int count;      /* of faces whose neighbours are on this node */
    int faces[HALO_FACES];
    const double *arrays[HALO_FACES]; /* these neighbours' */
    struct bc_images peers;           /* these neighbours */
    struct packed far;                /* the faces of other nodes */
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

static void create_shared(struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own =
        bc_allocate(1, sizeof *shared, "no memory for a swap");
    int node_ranks[HALO_FACES], near[HALO_FACES], unit_bytes;
    MPI_Aint bytes;
    bool far[HALO_FACES];
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
        near[i] = x->grid.neighbours[face];
    }
    bc_images_create(&shared->peers, x->comm, near, shared->count);
    init(&shared->far, x, far);
}

static void destroy_shared(struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    release(&shared->far);
    bc_images_destroy(&shared->peers);
    BC_MPI(MPI_Win_unlock_all(shared->window));
    BC_MPI(MPI_Win_free(&shared->window));
    free(shared);
}

/* Returns when the neighbours on this node have called it as often; what either side stored before
   that the other one sees. */
static void meet_peers(const struct halo_exchange *x, struct shared_swap *shared)
{
    BC_MPI(MPI_Win_sync(shared->window));
    bc_images_meet(&shared->peers, x->comm);
    BC_MPI(MPI_Win_sync(shared->window));
}

static void swap_shared(const struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    start(x, &shared->far);
    meet_peers(x, shared); /* the neighbours' layers are ready */
    for (int i = 0; i < shared->count; i++) {
        const int face = shared->faces[i];
        halo_copy(&x->box, &x->sent[halo_opposite(face)], shared->arrays[i], &x->received[face],
                  x->values);
    }
    meet_peers(x, shared); /* they have read this rank's */
    finish(x, &shared->far);
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
