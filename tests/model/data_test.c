/*
 * Does MODEL_DATA=1 deliver right results, and does MODEL_CORRUPT=1 make exactly one byte wrong on
 * exactly one rank? Runs every non-blocking and every persistent collective once with MPI_Wait and
 * once with MPI_Test, the persistent ones two starts each, and the blocking ones, of which those
 * without a topology must have all data right in any case. To be run under the model on 4 ranks,
 * with the expected outcome as the argument:
 *
 *   right       all data as MPI has it; nobody leaves a barrier before the last one enters it
 *   one-wrong   the same but for one byte on one rank; one rank leaves early
 *   untouched   no data moves; all ranks but the late one leave early
 */
#include "check.h"
#include "persistent.h"

#include <mpi.h>
#include <string.h>

enum {
    INTS = 64,
    RANKS_MAX = 4,
    ROOT = 1,
    COUNT = 3,  /* elements a block where blocks are equal */
    STRIDE = 8, /* elements from one block to the next in v and w variants, ... */
    OFFSET = 1, /* ... and before the first */
    NEIGHBORS_MAX = 4,
    POISON = -1 /* what no operation delivers */
};

enum form { NONBLOCKING, BLOCKING, PERSISTENT_FORM };

/* One operation on one rank. */
struct exchange {
    MPI_Comm comm;
    enum form form;
    int rank;
    int size;
    int neighbor_count;
    int neighbors[NEIGHBORS_MAX]; /* in MPI's order; some may be MPI_PROC_NULL */
    MPI_Datatype
        shifted; /* an int behind a hole of the same size: lower bound 4 bytes, extent 4 bytes */
    int send[INTS];
    int receive[INTS];
    int expected[INTS];
    MPI_Request request;
};

/* Posts the operation, does the blocking one instead, or makes the persistent one. */
#if HAS_PERSISTENT
#define MAKE(x, Blocking, ...)                                                                     \
    PERSISTENT(Blocking##_init)(__VA_ARGS__, MPI_INFO_NULL, &(x)->request)
#else
#define MAKE(x, Blocking, ...) MPI_ERR_OTHER
#endif
#define CALL(x, NonBlocking, Blocking, ...)                                                        \
    ((x)->form == BLOCKING          ? MPI_##Blocking(__VA_ARGS__)                                  \
     : (x)->form == PERSISTENT_FORM ? MAKE(x, Blocking, __VA_ARGS__)                               \
                                    : MPI_##NonBlocking(__VA_ARGS__, &(x)->request))

/* What source sends to destination as its i-th element; all different. */
static int value(int source, int destination, int i)
{
    return 10000 * (source + 1) + 100 * (destination + 1) + i;
}

static int sum_of_values(int sources, int destination, int i)
{
    int sum = 0;
    for (int source = 0; source < sources; source++)
        sum += value(source, destination, i);
    return sum;
}

/* Elements of a v variant: rank 0 sends none, the highest one receives none in a scatter. */
static int v_count(int rank) { return rank; }

static int scatterv_count(const struct exchange *x, int rank) { return x->size - 1 - rank; }

static int pair_count(int source, int destination) { return (source + 2 * destination) % 3; }

static void put_block(int buffer[INTS], int start, int source, int destination, int count)
{
    for (int i = 0; i < count; i++)
        buffer[start + i] = value(source, destination, i);
}

/* ---- One function an operation: fills send and expected, and posts --------------------------- */

static void post_bcast_of(struct exchange *x, MPI_Datatype type, int first)
{
    put_block(x->expected, first, ROOT, 0, COUNT);
    if (x->rank == ROOT)
        put_block(x->receive, first, ROOT, 0, COUNT);
    CALL(x, Ibcast, Bcast, x->receive, COUNT, type, ROOT, x->comm);
}

static void post_bcast(struct exchange *x) { post_bcast_of(x, MPI_INT, 0); }

static void post_bcast_behind_hole(struct exchange *x) { post_bcast_of(x, x->shifted, 1); }

static void post_gather(struct exchange *x)
{
    put_block(x->send, 0, x->rank, ROOT, COUNT);
    for (int source = 0; x->rank == ROOT && source < x->size; source++)
        put_block(x->expected, source * COUNT, source, ROOT, COUNT);
    CALL(x, Igather, Gather, x->send, COUNT, MPI_INT, x->receive, COUNT, MPI_INT, ROOT, x->comm);
}

static void post_gather_in_place(struct exchange *x)
{
    put_block(x->send, 0, x->rank, ROOT, COUNT);
    for (int source = 0; x->rank == ROOT && source < x->size; source++)
        put_block(x->expected, source * COUNT, source, ROOT, COUNT);
    if (x->rank == ROOT) {
        put_block(x->receive, ROOT * COUNT, ROOT, ROOT, COUNT);
        CALL(x, Igather, Gather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x->receive, COUNT, MPI_INT,
             ROOT, x->comm);
    } else {
        CALL(x, Igather, Gather, x->send, COUNT, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, ROOT,
             x->comm);
    }
}

static void v_layout(int size, int counts[RANKS_MAX], int displs[RANKS_MAX])
{
    for (int rank = 0; rank < size; rank++) {
        counts[rank] = v_count(rank);
        displs[rank] = OFFSET + rank * STRIDE;
    }
}

static void post_gatherv(struct exchange *x)
{
    static int counts[RANKS_MAX];
    static int displs[RANKS_MAX];
    v_layout(x->size, counts, displs);
    put_block(x->send, 0, x->rank, ROOT, v_count(x->rank));
    for (int source = 0; x->rank == ROOT && source < x->size; source++)
        put_block(x->expected, displs[source], source, ROOT, counts[source]);
    const int *root_counts = x->rank == ROOT ? counts : NULL;
    const int *root_displs = x->rank == ROOT ? displs : NULL;
    CALL(x, Igatherv, Gatherv, x->send, v_count(x->rank), MPI_INT, x->receive, root_counts,
         root_displs, MPI_INT, ROOT, x->comm);
}

static void post_scatter(struct exchange *x)
{
    for (int destination = 0; destination < x->size; destination++)
        put_block(x->send, destination * COUNT, ROOT, destination, COUNT);
    put_block(x->expected, 0, ROOT, x->rank, COUNT);
    CALL(x, Iscatter, Scatter, x->send, COUNT, MPI_INT, x->receive, COUNT, MPI_INT, ROOT, x->comm);
}

static void post_scatter_in_place(struct exchange *x)
{
    for (int destination = 0; destination < x->size; destination++)
        put_block(x->send, destination * COUNT, ROOT, destination, COUNT);
    if (x->rank == ROOT) {
        CALL(x, Iscatter, Scatter, x->send, COUNT, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
             ROOT, x->comm);
    } else {
        put_block(x->expected, 0, ROOT, x->rank, COUNT);
        CALL(x, Iscatter, Scatter, NULL, 0, MPI_DATATYPE_NULL, x->receive, COUNT, MPI_INT, ROOT,
             x->comm);
    }
}

static void post_scatterv(struct exchange *x)
{
    static int counts[RANKS_MAX];
    static int displs[RANKS_MAX];
    for (int destination = 0; destination < x->size; destination++) {
        counts[destination] = scatterv_count(x, destination);
        displs[destination] = OFFSET + destination * STRIDE;
        put_block(x->send, displs[destination], ROOT, destination, counts[destination]);
    }
    const int count = scatterv_count(x, x->rank);
    put_block(x->expected, 0, ROOT, x->rank, count);
    CALL(x, Iscatterv, Scatterv, x->send, counts, displs, MPI_INT, x->receive, count, MPI_INT, ROOT,
         x->comm);
}

static void post_allgather(struct exchange *x)
{
    put_block(x->send, 0, x->rank, 0, COUNT);
    for (int source = 0; source < x->size; source++)
        put_block(x->expected, source * COUNT, source, 0, COUNT);
    CALL(x, Iallgather, Allgather, x->send, COUNT, MPI_INT, x->receive, COUNT, MPI_INT, x->comm);
}

static void post_allgather_in_place(struct exchange *x)
{
    put_block(x->receive, x->rank * COUNT, x->rank, 0, COUNT);
    for (int source = 0; source < x->size; source++)
        put_block(x->expected, source * COUNT, source, 0, COUNT);
    CALL(x, Iallgather, Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x->receive, COUNT, MPI_INT,
         x->comm);
}

static void post_allgatherv(struct exchange *x)
{
    static int counts[RANKS_MAX];
    static int displs[RANKS_MAX];
    v_layout(x->size, counts, displs);
    put_block(x->send, 0, x->rank, 0, v_count(x->rank));
    for (int source = 0; source < x->size; source++)
        put_block(x->expected, displs[source], source, 0, counts[source]);
    CALL(x, Iallgatherv, Allgatherv, x->send, v_count(x->rank), MPI_INT, x->receive, counts, displs,
         MPI_INT, x->comm);
}

static void post_alltoall(struct exchange *x)
{
    for (int peer = 0; peer < x->size; peer++) {
        put_block(x->send, peer * COUNT, x->rank, peer, COUNT);
        put_block(x->expected, peer * COUNT, peer, x->rank, COUNT);
    }
    CALL(x, Ialltoall, Alltoall, x->send, COUNT, MPI_INT, x->receive, COUNT, MPI_INT, x->comm);
}

/* A different count each way for each pair of ranks, and where the blocks start, in elements. In
   the w variant the receiver has its data behind a hole when the source is odd. */
struct pairs {
    int send_counts[RANKS_MAX];
    int receive_counts[RANKS_MAX];
    int displs[RANKS_MAX];
    int byte_displs[RANKS_MAX];
    MPI_Aint aint_displs[RANKS_MAX];
    MPI_Datatype send_types[RANKS_MAX];
    MPI_Datatype receive_types[RANKS_MAX];
};

/* Fills send and expected for n peers, who send peers[i] and receive peers[i]; hole: as in the w
 * variants. */
static void put_pairs(struct exchange *x, struct pairs *pairs, int n, const int peers[], bool hole)
{
    for (int i = 0; i < n; i++) {
        const int peer = peers[i];
        const bool exists = peer != MPI_PROC_NULL;
        const bool behind_hole = hole && exists && peer % 2 != 0;
        pairs->send_counts[i] = exists ? pair_count(x->rank, peer) : COUNT;
        pairs->receive_counts[i] = exists ? pair_count(peer, x->rank) : COUNT;
        pairs->displs[i] = OFFSET + i * STRIDE;
        pairs->byte_displs[i] = pairs->displs[i] * (int)sizeof(int);
        pairs->aint_displs[i] = pairs->byte_displs[i];
        pairs->send_types[i] = MPI_INT;
        pairs->receive_types[i] = behind_hole ? x->shifted : MPI_INT;
        if (exists) {
            put_block(x->send, pairs->displs[i], x->rank, peer, pairs->send_counts[i]);
            put_block(x->expected, pairs->displs[i] + behind_hole, peer, x->rank,
                      pairs->receive_counts[i]);
        }
    }
}

static const int ranks_in_order[RANKS_MAX] = {0, 1, 2, 3};

static void post_alltoallv(struct exchange *x)
{
    static struct pairs pairs;
    put_pairs(x, &pairs, x->size, ranks_in_order, false);
    CALL(x, Ialltoallv, Alltoallv, x->send, pairs.send_counts, pairs.displs, MPI_INT, x->receive,
         pairs.receive_counts, pairs.displs, MPI_INT, x->comm);
}

static void post_alltoallw(struct exchange *x)
{
    static struct pairs pairs;
    put_pairs(x, &pairs, x->size, ranks_in_order, true);
    CALL(x, Ialltoallw, Alltoallw, x->send, pairs.send_counts, pairs.byte_displs, pairs.send_types,
         x->receive, pairs.receive_counts, pairs.byte_displs, pairs.receive_types, x->comm);
}

static void put_sums(struct exchange *x, int sources)
{
    put_block(x->send, 0, x->rank, 0, COUNT);
    for (int i = 0; i < COUNT && sources > 0; i++)
        x->expected[i] = sum_of_values(sources, 0, i);
}

static void post_reduce(struct exchange *x)
{
    put_sums(x, x->rank == ROOT ? x->size : 0);
    CALL(x, Ireduce, Reduce, x->send, x->receive, COUNT, MPI_INT, MPI_SUM, ROOT, x->comm);
}

static void post_allreduce(struct exchange *x)
{
    put_sums(x, x->size);
    CALL(x, Iallreduce, Allreduce, x->send, x->receive, COUNT, MPI_INT, MPI_SUM, x->comm);
}

static void post_allreduce_in_place(struct exchange *x)
{
    put_sums(x, x->size);
    put_block(x->receive, 0, x->rank, 0, COUNT);
    CALL(x, Iallreduce, Allreduce, MPI_IN_PLACE, x->receive, COUNT, MPI_INT, MPI_SUM, x->comm);
}

static void post_scan(struct exchange *x)
{
    put_sums(x, x->rank + 1);
    CALL(x, Iscan, Scan, x->send, x->receive, COUNT, MPI_INT, MPI_SUM, x->comm);
}

/* Rank 0's buffer may have anything in it afterwards, so it has one that isn't looked at. */
static void post_exscan(struct exchange *x)
{
    static int undefined[INTS];
    put_sums(x, x->rank);
    CALL(x, Iexscan, Exscan, x->send, x->rank == 0 ? undefined : x->receive, COUNT, MPI_INT,
         MPI_SUM, x->comm);
}

static void post_reduce_scatter(struct exchange *x)
{
    static int counts[RANKS_MAX];
    int start = 0;
    for (int destination = 0; destination < x->size; destination++) {
        counts[destination] = scatterv_count(x, destination);
        put_block(x->send, start, x->rank, destination, counts[destination]);
        start += counts[destination];
    }
    for (int i = 0; i < counts[x->rank]; i++)
        x->expected[i] = sum_of_values(x->size, x->rank, i);
    CALL(x, Ireduce_scatter, Reduce_scatter, x->send, x->receive, counts, MPI_INT, MPI_SUM,
         x->comm);
}

static void post_reduce_scatter_block(struct exchange *x)
{
    for (int destination = 0; destination < x->size; destination++)
        put_block(x->send, destination * COUNT, x->rank, destination, COUNT);
    for (int i = 0; i < COUNT; i++)
        x->expected[i] = sum_of_values(x->size, x->rank, i);
    CALL(x, Ireduce_scatter_block, Reduce_scatter_block, x->send, x->receive, COUNT, MPI_INT,
         MPI_SUM, x->comm);
}

static void post_neighbor_allgather(struct exchange *x)
{
    put_block(x->send, 0, x->rank, 0, COUNT);
    for (int i = 0; i < x->neighbor_count; i++)
        if (x->neighbors[i] != MPI_PROC_NULL)
            put_block(x->expected, i * COUNT, x->neighbors[i], 0, COUNT);
    CALL(x, Ineighbor_allgather, Neighbor_allgather, x->send, COUNT, MPI_INT, x->receive, COUNT,
         MPI_INT, x->comm);
}

static void post_neighbor_allgatherv(struct exchange *x)
{
    static int counts[NEIGHBORS_MAX];
    static int displs[NEIGHBORS_MAX];
    put_block(x->send, 0, x->rank, 0, v_count(x->rank));
    for (int i = 0; i < x->neighbor_count; i++) {
        const bool exists = x->neighbors[i] != MPI_PROC_NULL;
        counts[i] = exists ? v_count(x->neighbors[i]) : COUNT;
        displs[i] = OFFSET + i * STRIDE;
        if (exists)
            put_block(x->expected, displs[i], x->neighbors[i], 0, counts[i]);
    }
    CALL(x, Ineighbor_allgatherv, Neighbor_allgatherv, x->send, v_count(x->rank), MPI_INT,
         x->receive, counts, displs, MPI_INT, x->comm);
}

static void post_neighbor_alltoall(struct exchange *x)
{
    for (int i = 0; i < x->neighbor_count; i++) {
        if (x->neighbors[i] != MPI_PROC_NULL) {
            put_block(x->send, i * COUNT, x->rank, x->neighbors[i], COUNT);
            put_block(x->expected, i * COUNT, x->neighbors[i], x->rank, COUNT);
        }
    }
    CALL(x, Ineighbor_alltoall, Neighbor_alltoall, x->send, COUNT, MPI_INT, x->receive, COUNT,
         MPI_INT, x->comm);
}

static void post_neighbor_alltoallv(struct exchange *x)
{
    static struct pairs pairs;
    put_pairs(x, &pairs, x->neighbor_count, x->neighbors, false);
    CALL(x, Ineighbor_alltoallv, Neighbor_alltoallv, x->send, pairs.send_counts, pairs.displs,
         MPI_INT, x->receive, pairs.receive_counts, pairs.displs, MPI_INT, x->comm);
}

static void post_neighbor_alltoallw(struct exchange *x)
{
    static struct pairs pairs;
    put_pairs(x, &pairs, x->neighbor_count, x->neighbors, true);
    CALL(x, Ineighbor_alltoallw, Neighbor_alltoallw, x->send, pairs.send_counts, pairs.aint_displs,
         pairs.send_types, x->receive, pairs.receive_counts, pairs.aint_displs, pairs.receive_types,
         x->comm);
}

/* ---- All of them ----------------------------------------------------------------------------- */

enum topology { PLAIN, RING, LINE, TORUS, TOPOLOGIES };

static const struct {
    const char *name;
    void (*post)(struct exchange *);
    enum topology topology;
} cases[] = {
    {"ibcast", post_bcast, PLAIN},
    {"ibcast, type with a hole", post_bcast_behind_hole, PLAIN},
    {"igather", post_gather, PLAIN},
    {"igather, in place", post_gather_in_place, PLAIN},
    {"igatherv", post_gatherv, PLAIN},
    {"iscatter", post_scatter, PLAIN},
    {"iscatter, in place", post_scatter_in_place, PLAIN},
    {"iscatterv", post_scatterv, PLAIN},
    {"iallgather", post_allgather, PLAIN},
    {"iallgather, in place", post_allgather_in_place, PLAIN},
    {"iallgatherv", post_allgatherv, PLAIN},
    {"ialltoall", post_alltoall, PLAIN},
    {"ialltoallv", post_alltoallv, PLAIN},
    {"ialltoallw", post_alltoallw, PLAIN},
    {"ireduce", post_reduce, PLAIN},
    {"iallreduce", post_allreduce, PLAIN},
    {"iallreduce, in place", post_allreduce_in_place, PLAIN},
    {"ireduce_scatter", post_reduce_scatter, PLAIN},
    {"ireduce_scatter_block", post_reduce_scatter_block, PLAIN},
    {"iscan", post_scan, PLAIN},
    {"iexscan", post_exscan, PLAIN},
    {"ineighbor_allgather, ring", post_neighbor_allgather, RING},
    {"ineighbor_allgather, line", post_neighbor_allgather, LINE},
    {"ineighbor_allgatherv, ring", post_neighbor_allgatherv, RING},
    {"ineighbor_allgatherv, line", post_neighbor_allgatherv, LINE},
    {"ineighbor_alltoall, ring", post_neighbor_alltoall, RING},
    {"ineighbor_alltoall, line", post_neighbor_alltoall, LINE},
    {"ineighbor_alltoallv, ring", post_neighbor_alltoallv, RING},
    {"ineighbor_alltoallv, line", post_neighbor_alltoallv, LINE},
    {"ineighbor_alltoallw, ring", post_neighbor_alltoallw, RING},
    {"ineighbor_alltoallw, line", post_neighbor_alltoallw, LINE},
    {"ineighbor_allgather, torus", post_neighbor_allgather, TORUS},
    {"ineighbor_alltoallw, torus", post_neighbor_alltoallw, TORUS},
};

/* How often a persistent one is started. In MPICH 4.0.2, on three ranks and more, the second start
 * of a scatter ends the job, and that of an allgather delivers nothing. */
static int starts_of(void (*post)(struct exchange *))
{
    const bool twice = post != post_scatter && post != post_scatter_in_place &&
                       post != post_allgather && post != post_allgather_in_place;
    return twice ? 2 : 1;
}

/* How the tests end an operation; both must do the damage. */
static void finish(MPI_Request *request, bool by_test)
{
    int complete = 0;
    if (by_test)
        while (!complete)
            MPI_Test(request, &complete, MPI_STATUS_IGNORE);
    else
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int bytes_that_differ(const void *a, const void *b, size_t bytes)
{
    int differ = 0;
    for (size_t i = 0; i < bytes; i++)
        differ += ((const unsigned char *)a)[i] != ((const unsigned char *)b)[i];
    return differ;
}

static int over_ranks(int own, MPI_Op op)
{
    int result;
    MPI_Allreduce(&own, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
    return result;
}

static bool receives_anything(const struct exchange *x)
{
    for (int i = 0; i < INTS; i++)
        if (x->expected[i] != POISON)
            return true;
    return false;
}

/* Whether anything has changed between the blocks or in a hole. */
static bool differs_outside(const struct exchange *x)
{
    for (int i = 0; i < INTS; i++)
        if (x->expected[i] == POISON && x->receive[i] != POISON)
            return true;
    return false;
}

static void check_case(const char *name, const struct exchange *x, const int should_be[INTS],
                       int wrong)
{
    const int differ = bytes_that_differ(x->receive, should_be, sizeof x->receive);
    char what[64];
    (void)snprintf(what, sizeof what, "%s: ranks wrong", name);
    check_equal(what, over_ranks(differ > 0, MPI_SUM), wrong);
    (void)snprintf(what, sizeof what, "%s: bytes wrong", name);
    check_equal(what, over_ranks(differ, MPI_SUM), wrong);
    if (wrong > 0) {
        (void)snprintf(what, sizeof what, "%s: wrong where nothing is received", name);
        check_equal(what, over_ranks(differs_outside(x), MPI_MAX), false);
        (void)snprintf(what, sizeof what, "%s: which rank", name);
        check_equal(what, over_ranks(differ > 0 ? x->rank : -1, MPI_MAX),
                    over_ranks(receives_anything(x) ? x->rank : -1, MPI_MAX));
    }
}

/* The neighbours are worked out here rather than asked of MPI: the ring has two on every rank, the
   line, which is an open grid one row high, nobody above and below and nobody beyond its ends, and
   the torus, which is a closed grid one row high, itself above and below. */
static void start_exchange(struct exchange *x, MPI_Comm comm, enum topology topology,
                           MPI_Datatype shifted)
{
    *x = (struct exchange){.comm = comm, .shifted = shifted, .request = MPI_REQUEST_NULL};
    MPI_Comm_rank(comm, &x->rank);
    MPI_Comm_size(comm, &x->size);
    if (topology == LINE) {
        x->neighbors[x->neighbor_count++] = MPI_PROC_NULL;
        x->neighbors[x->neighbor_count++] = MPI_PROC_NULL;
    }
    if (topology == TORUS) {
        x->neighbors[x->neighbor_count++] = x->rank;
        x->neighbors[x->neighbor_count++] = x->rank;
    }
    const bool first = topology == LINE && x->rank == 0;
    const bool last = topology == LINE && x->rank == x->size - 1;
    x->neighbors[x->neighbor_count++] = first ? MPI_PROC_NULL : (x->rank + x->size - 1) % x->size;
    x->neighbors[x->neighbor_count++] = last ? MPI_PROC_NULL : (x->rank + 1) % x->size;
    for (int i = 0; i < INTS; i++)
        x->send[i] = x->receive[i] = x->expected[i] = POISON;
}

static void run_case(size_t i, const MPI_Comm comms[], MPI_Datatype shifted, enum form form,
                     bool by_test, bool untouched, int wrong)
{
    static struct exchange x;
    const char *name = cases[i].name + (form != NONBLOCKING); /* without the i */
    int before[INTS];
    start_exchange(&x, comms[cases[i].topology], cases[i].topology, shifted);
    x.form = form;
    cases[i].post(&x);
    /* Posts may put something there; those of blocking ones on a topology don't, and what these
     * receive must not count. */
    for (int j = 0; j < INTS; j++)
        before[j] = form == BLOCKING ? POISON : x.receive[j];
    if (form == BLOCKING && cases[i].topology == PLAIN) {
        untouched = false;
        wrong = 0;
    }
    /* A persistent one a second time with what it had the first time. */
    for (int start = 0; start < (form == PERSISTENT_FORM ? starts_of(cases[i].post) : 1); start++) {
        if (form == PERSISTENT_FORM) {
            memcpy(x.receive, before, sizeof before);
            MPI_Start(&x.request);
        }
        if (form != BLOCKING)
            finish(&x.request, by_test);
        if (untouched)
            MPI_Barrier(MPI_COMM_WORLD); /* time for what shouldn't arrive to arrive */
        check_case(name, &x, untouched ? before : x.expected, wrong);
    }
    if (form == PERSISTENT_FORM)
        MPI_Request_free(&x.request);
}

static void check_barrier(MPI_Comm comm, enum form form, bool by_test, int early_expected)
{
    enum { LATE_RANK = 0, LATE_US = 20000 };
    struct exchange x = {.comm = comm, .form = form};
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (form == PERSISTENT_FORM)
        CALL(&x, Ibarrier, Barrier, comm);
    MPI_Barrier(comm);
    const double begin_us = check_now_us();
    while (rank == LATE_RANK && check_now_us() - begin_us < LATE_US)
        ;

    /* All ranks are on one machine, so there is one clock. */
    double enter_us = check_now_us();
    if (form == PERSISTENT_FORM)
        MPI_Start(&x.request);
    else
        CALL(&x, Ibarrier, Barrier, comm);
    finish(&x.request, by_test);
    const double leave_us = check_now_us();
    double last_enter_us;
    MPI_Allreduce(&enter_us, &last_enter_us, 1, MPI_DOUBLE, MPI_MAX, comm);
    check_equal("ibarrier: ranks that leave early", over_ranks(leave_us < last_enter_us, MPI_SUM),
                early_expected);
    if (form == PERSISTENT_FORM)
        MPI_Request_free(&x.request);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_begin(rank == 0);
    if (argc != 2 || size > RANKS_MAX || size < 3) {
        (void)fprintf(stderr, "usage: data_test right|one-wrong|untouched, on 3 or 4 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const bool untouched = strcmp(argv[1], "untouched") == 0;
    const int wrong = strcmp(argv[1], "one-wrong") == 0 ? 1 : 0;

    MPI_Comm comms[TOPOLOGIES];
    const int closed = 1;
    const int grid[2] = {1, size};
    const int open[2] = {0, 0};
    const int both_closed[2] = {1, 1};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[PLAIN]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &closed, 0, &comms[RING]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, grid, open, 0, &comms[LINE]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, grid, both_closed, 0, &comms[TORUS]);
    MPI_Datatype shifted;
    const int one = 1;
    MPI_Type_create_indexed_block(1, 1, &one, MPI_INT, &shifted);
    MPI_Type_commit(&shifted);

    const int forms = HAS_PERSISTENT ? 3 : 2;
    for (int form = 0; form < forms; form++)
        for (int by_test = 0; by_test < (form == BLOCKING ? 1 : 2); by_test++) {
            if (form != BLOCKING)
                check_barrier(comms[PLAIN], (enum form)form, by_test, untouched ? size - 1 : wrong);
            for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
                run_case(i, comms, shifted, (enum form)form, by_test, untouched, wrong);
        }

    MPI_Type_free(&shifted);
    for (int i = 0; i < TOPOLOGIES; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return check_end();
}
