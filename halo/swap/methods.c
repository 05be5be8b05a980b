#include "halo/swap/methods.h"

#include "common/mpi/coarray.h"
#include "common/mpi/large_count.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>
#include <string.h>

const char *const halo_sync_names[HALO_SYNCS] = {"all", "images", "none"};

/* The tag of a message is the face where it is received: the neighbours on both sides may be the
   same rank. Notifications have their own. */
enum { NOTIFICATION_TAG = HALO_FACES };

/* ---- what all methods know ------------------------------------------------------------------- */

void halo_exchange_init(struct halo_exchange *exchange, const struct halo_box *box,
                        const struct halo_grid *grid, MPI_Comm comm, MPI_Comm node_comm)
{
    *exchange =
        (struct halo_exchange){.box = *box, .grid = *grid, .comm = comm, .node_comm = node_comm};
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        exchange->array[d] = halo_array_extent(box, d);
    for (int face = 0; face < HALO_FACES; face++) {
        exchange->sent[face] = halo_sent(box, face);
        exchange->received[face] = halo_received(box, face);
    }
}

double *halo_allocate_values(int64_t count)
{
    return bc_allocate_pages((size_t)bc_window_bytes(count), "no memory for %lld values",
                             (long long)count);
}

/* Zeros. */
static void *allocate(size_t bytes)
{
    return bc_allocate(1, bytes, "no memory for %zu bytes", bytes);
}

/* ---- put and get ----------------------------------------------------------------------------- */

struct coarray_swap {
    struct bc_coarray coarray;
    struct bc_images neighbours;
    MPI_Datatype sections[HALO_DIRECTIONS];               /* a face's shape */
    int64_t sent_at[HALO_FACES], received_at[HALO_FACES]; /* places */
};

static void create_coarray(struct halo_exchange *x)
{
    static const int64_t corner[HALO_DIRECTIONS];
    struct coarray_swap *const c = allocate(sizeof *c);
    bc_coarray_create(&c->coarray, x->comm, halo_array_values(&x->box));
    bc_images_create(&c->neighbours, &c->coarray, x->grid.neighbours, HALO_FACES);
    for (int face = 0; face < HALO_FACES; face++) {
        c->sent_at[face] = halo_place(&x->box, x->sent[face].start);
        c->received_at[face] = halo_place(&x->box, x->received[face].start);
    }
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        c->sections[d] = bc_type_box(HALO_DIRECTIONS, x->array, x->sent[2 * (size_t)d].extent,
                                     corner, MPI_DOUBLE);
    x->values = c->coarray.values;
    x->own = c;
}

static void destroy_coarray(struct halo_exchange *x)
{
    struct coarray_swap *const c = x->own;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        BC_MPI(MPI_Type_free(&c->sections[d]));
    bc_images_destroy(&c->neighbours);
    bc_coarray_destroy(&c->coarray);
    free(c);
}

static inline void put_faces(const struct halo_exchange *x, const struct coarray_swap *c)
{
    for (int face = 0; face < HALO_FACES; face++)
        bc_coarray_put_section(&c->coarray, x->grid.neighbours[face],
                               c->received_at[halo_opposite(face)], x->values + c->sent_at[face],
                               c->sections[halo_direction(face)]);
}

static inline void get_faces(const struct halo_exchange *x, const struct coarray_swap *c)
{
    for (int face = 0; face < HALO_FACES; face++)
        bc_coarray_get_section(&c->coarray, x->grid.neighbours[face],
                               c->sent_at[halo_opposite(face)], x->values + c->received_at[face],
                               c->sections[halo_direction(face)]);
}

static void put_sync_all(const struct halo_exchange *x)
{
    const struct coarray_swap *const c = x->own;
    bc_sync_all(&c->coarray);
    put_faces(x, c);
    bc_sync_all(&c->coarray);
}

static void put_sync_images(const struct halo_exchange *x)
{
    struct coarray_swap *const c = x->own;
    bc_sync_images(&c->coarray, &c->neighbours);
    put_faces(x, c);
    bc_sync_images(&c->coarray, &c->neighbours);
}

static void get_sync_all(const struct halo_exchange *x)
{
    const struct coarray_swap *const c = x->own;
    bc_sync_all(&c->coarray);
    get_faces(x, c);
    bc_sync_all(&c->coarray);
}

static void get_sync_images(const struct halo_exchange *x)
{
    struct coarray_swap *const c = x->own;
    bc_sync_images(&c->coarray, &c->neighbours);
    get_faces(x, c);
    bc_sync_images(&c->coarray, &c->neighbours);
}

/* ---- messages of derived datatypes ----------------------------------------------------------- */

struct typed_swap {
    MPI_Datatype sent[HALO_FACES], received[HALO_FACES];
    MPI_Request requests[2 * HALO_FACES];
    MPI_Status *statuses;       /* MPI_STATUSES_IGNORE */
    int ones[HALO_FACES];       /* of MPI_Neighbor_alltoallw: counts */
    MPI_Aint zeros[HALO_FACES]; /* and displacements */
};

static MPI_Datatype type_of(const struct halo_exchange *x, const struct halo_region *region)
{
    return bc_type_box(HALO_DIRECTIONS, x->array, region->extent, region->start, MPI_DOUBLE);
}

static void create_typed(struct halo_exchange *x)
{
    struct typed_swap *const t = allocate(sizeof *t);
    t->statuses = MPI_STATUSES_IGNORE;
    for (int face = 0; face < HALO_FACES; face++) {
        t->sent[face] = type_of(x, &x->sent[face]);
        t->received[face] = type_of(x, &x->received[face]);
        t->ones[face] = 1;
    }
    x->values = halo_allocate_values(halo_array_values(&x->box));
    x->own = t;
}

static void destroy_typed(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        BC_MPI(MPI_Type_free(&t->sent[face]));
        BC_MPI(MPI_Type_free(&t->received[face]));
    }
    free(x->values);
    free(t);
}

static void swap_typed(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Irecv(x->values, 1, t->received[face], x->grid.neighbours[face], face, x->comm,
                         &t->requests[face]));
    for (int face = 0; face < HALO_FACES; face++)
        BC_MPI(MPI_Isend(x->values, 1, t->sent[face], x->grid.neighbours[face], halo_opposite(face),
                         x->comm, &t->requests[HALO_FACES + face]));
    BC_MPI(MPI_Waitall(2 * HALO_FACES, t->requests, t->statuses));
}

static void create_persistent(struct halo_exchange *x)
{
    create_typed(x);
    struct typed_swap *const t = x->own;
    for (int face = 0; face < HALO_FACES; face++) {
        BC_MPI(MPI_Recv_init(x->values, 1, t->received[face], x->grid.neighbours[face], face,
                             x->comm, &t->requests[face]));
        BC_MPI(MPI_Send_init(x->values, 1, t->sent[face], x->grid.neighbours[face],
                             halo_opposite(face), x->comm, &t->requests[HALO_FACES + face]));
    }
}

static void destroy_persistent(struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    for (int i = 0; i < 2 * HALO_FACES; i++)
        BC_MPI(MPI_Request_free(&t->requests[i]));
    destroy_typed(x);
}

static void swap_persistent(const struct halo_exchange *x)
{
    struct typed_swap *const t = x->own;
    BC_MPI(MPI_Startall(2 * HALO_FACES, t->requests));
    BC_MPI(MPI_Waitall(2 * HALO_FACES, t->requests, t->statuses));
}

static void swap_neighbor_alltoallw(const struct halo_exchange *x)
{
    const struct typed_swap *const t = x->own;
    BC_MPI(MPI_Neighbor_alltoallw(x->values, t->ones, t->zeros, t->sent, x->values, t->ones,
                                  t->zeros, t->received, x->comm));
}

/* Which side of which rank each side of the halo must come from: block s of the sender is block
   s ^ 1 of the receiver where both its neighbours are the same rank, too (MPI 4.1, 8.6; an erratum
   of MPI 3.1 by MPI 4.0, B.1.1). MPICH 4.0.2 takes the blocks in order
   (tests/end_to_end/neighbor_order.c). */
static bool neighbor_alltoallw_is_right(const struct halo_grid *grid, MPI_Comm comm)
{
    int wrong = 0;
    int sent[HALO_FACES], received[HALO_FACES], ones[HALO_FACES];
    MPI_Aint places[HALO_FACES];
    MPI_Datatype types[HALO_FACES];
    for (int f = 0; f < HALO_FACES; f++) {
        sent[f] = HALO_FACES * grid->rank + f;
        received[f] = -1;
        ones[f] = 1;
        places[f] = f * (MPI_Aint)sizeof *sent;
        types[f] = MPI_INT;
    }
    BC_MPI(MPI_Neighbor_alltoallw(sent, ones, places, types, received, ones, places, types, comm));
    for (int f = 0; f < HALO_FACES; f++)
        wrong |= received[f] != HALO_FACES * grid->neighbours[f] + halo_opposite(f);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm));
    return !wrong;
}

/* ---- packed messages ------------------------------------------------------------------------- */

/* All arrays are in the order of `faces`. */
struct packed_swap {
    int count; /* of faces that go so */
    int faces[HALO_FACES];
    double *sent[HALO_FACES], *received[HALO_FACES]; /* buffers */
    struct bc_amount amounts[HALO_FACES];            /* of values in each buffer */
    MPI_Request sends[HALO_FACES], receives[HALO_FACES];
    MPI_Status *statuses; /* MPI_STATUSES_IGNORE */
};

/* Makes the buffers of the faces that are chosen; none is fine. Local. */
static void init_packed(struct packed_swap *packed, const struct halo_exchange *x,
                        const bool chosen[HALO_FACES])
{
    *packed = (struct packed_swap){.statuses = MPI_STATUSES_IGNORE};
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

static void free_packed(struct packed_swap *packed)
{
    for (int i = 0; i < packed->count; i++) {
        free(packed->sent[i]);
        free(packed->received[i]);
        bc_amount_destroy(&packed->amounts[i]);
    }
}

/* Posts the receives, and packs and sends each face. */
static void start_packed(const struct halo_exchange *x, struct packed_swap *packed)
{
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        BC_MPI(MPI_Irecv(packed->received[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], face, x->comm, &packed->receives[i]));
    }
    for (int i = 0; i < packed->count; i++) {
        const int face = packed->faces[i];
        halo_pack(&x->box, &x->sent[face], x->values, packed->sent[i]);
        BC_MPI(MPI_Isend(packed->sent[i], packed->amounts[i].count, packed->amounts[i].type,
                         x->grid.neighbours[face], halo_opposite(face), x->comm,
                         &packed->sends[i]));
    }
}

/* Unpacks each face when it has arrived, by MPI_Waitany, so that one face is unpacked while others
   are on their way; then waits for the sends. */
static void finish_packed(const struct halo_exchange *x, struct packed_swap *packed)
{
    for (int arrived = 0; arrived < packed->count; arrived++) {
        int i;
        BC_MPI(MPI_Waitany(packed->count, packed->receives, &i, MPI_STATUS_IGNORE));
        halo_unpack(&x->box, &x->received[packed->faces[i]], packed->received[i], x->values);
    }
    BC_MPI(MPI_Waitall(packed->count, packed->sends, packed->statuses));
}

static void create_packed(struct halo_exchange *x)
{
    static const bool all[HALO_FACES] = {true, true, true, true, true, true};
    x->own = allocate(sizeof(struct packed_swap));
    init_packed(x->own, x, all);
    x->values = halo_allocate_values(halo_array_values(&x->box));
}

static void destroy_packed(struct halo_exchange *x)
{
    free_packed(x->own);
    free(x->values);
    free(x->own);
}

static void swap_packed(const struct halo_exchange *x)
{
    start_packed(x, x->own);
    finish_packed(x, x->own);
}

/* ---- shared window --------------------------------------------------------------------------- */

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
    struct packed_swap far; /* the faces of other nodes */
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
    struct shared_swap *const shared = allocate(sizeof *shared);
    int node_ranks[HALO_FACES], unit_bytes;
    MPI_Aint bytes;
    bool far[HALO_FACES];
    x->own = shared;
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
    init_packed(&shared->far, x, far);
}

static void destroy_shared(struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    free_packed(&shared->far);
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
        BC_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, peer, NOTIFICATION_TAG, x->comm, request++));
        BC_MPI(MPI_Isend(NULL, 0, MPI_BYTE, peer, NOTIFICATION_TAG, x->comm, request++));
    }
    BC_MPI(MPI_Waitall(2 * shared->peer_count, shared->requests, shared->statuses));
    BC_MPI(MPI_Win_sync(shared->window));
}

static void swap_shared(const struct halo_exchange *x)
{
    struct shared_swap *const shared = x->own;
    start_packed(x, &shared->far);
    meet_peers(x, shared); /* the neighbours' layers are ready */
    for (int i = 0; i < shared->count; i++) {
        const int face = shared->faces[i];
        halo_copy(&x->box, &x->sent[halo_opposite(face)], shared->arrays[i], &x->received[face],
                  x->values);
    }
    meet_peers(x, shared); /* they have read this rank's */
    finish_packed(x, &shared->far);
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct halo_method halo_methods[HALO_METHODS] = {
    {"put", HALO_SYNC_ALL, create_coarray, put_sync_all, destroy_coarray, .in_window = true},
    {"put", HALO_SYNC_IMAGES, create_coarray, put_sync_images, destroy_coarray, .in_window = true},
    {"get", HALO_SYNC_ALL, create_coarray, get_sync_all, destroy_coarray, .in_window = true},
    {"get", HALO_SYNC_IMAGES, create_coarray, get_sync_images, destroy_coarray, .in_window = true},
    {"isend/irecv types", HALO_SYNC_NONE, create_typed, swap_typed, .destroy = destroy_typed},
    {"isend/irecv packed", HALO_SYNC_NONE, create_packed, swap_packed, destroy_packed,
     .packs = true},
    {"persistent", HALO_SYNC_NONE, create_persistent, swap_persistent,
     .destroy = destroy_persistent},
    {"neighbor_alltoallw", HALO_SYNC_NONE, create_typed, swap_neighbor_alltoallw, destroy_typed,
     .is_right = neighbor_alltoallw_is_right, .missing = !COMMCOST_NEIGHBOR_COLLECTIVES},
    {"shared window", HALO_SYNC_NONE, create_shared, swap_shared, destroy_shared, .in_window = true,
     .shares_node = true, .packs = true},
};
