/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives, each of which is posted and waited for by each of its members. A member's operation
 * starts once all members whose data it needs have posted theirs: all of them, the root, those
 * before it, or its neighbours.
 */
#include "tests/virtual/algorithms.h"
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum flow { BARRIER, FROM_ROOT, TO_ROOT, TO_ALL, UP_TO_SELF, BEFORE_SELF, TO_NEIGHBOURS };

/* Data that a member sends or receives: one block, or one for each member or neighbour. Those of
   `counts` without `displs` follow one another. */
struct blocks {
    const void *base;
    bool many;
    int count;
    const int *counts, *displs;
    const MPI_Aint *addresses; /* displacements in bytes */
    MPI_Datatype type;
    const MPI_Datatype *types;
};

struct exchange {
    enum flow flow;
    int root;
    MPI_Op op; /* MPI_OP_NULL: nothing is reduced */
    struct blocks sent, received;
};

/* A member's contribution: `count` pieces, or one for all. */
struct contribution {
    int64_t posted_ns; /* 0: not yet; else the time + 1 */
    int64_t bytes;     /* that its part is of; set before it is posted */
    int count;
    struct packed *pieces;
    void *made; /* of a meeting */
};

/* In shared memory, in its communicator's list until all members have completed it. */
struct collective {
    uint64_t number;
    int posted, completed;
    struct contribution *of;
    struct collective *next;
};

/* A member's part of a collective, which may be persistent. */
struct part {
    struct own_comm own;
    struct exchange exchange;
    bool trusted; /* data is never wrong, since programs rely on it */
    struct collective *shared;
};

/* ---- shared ---------------------------------------------------------------------------------- */

/* This member's next collective, which the first member makes. */
static struct collective *join(const struct own_comm *own)
{
    struct comm *const comm = own->comm;
    const uint64_t number = comm->posted[own->rank]++;
    struct collective **place = &comm->collectives;
    while (*place != NULL && (*place)->number != number)
        place = &(*place)->next;
    if (*place == NULL) {
        *place = world_allocate(sizeof **place);
        (*place)->number = number;
        (*place)->of = world_allocate((size_t)comm->size * sizeof *(*place)->of);
    }
    return *place;
}

static void release_contribution(struct contribution *contribution)
{
    for (int i = 0; i < contribution->count; i++)
        data_release(&contribution->pieces[i]);
    world_release(contribution->pieces, (size_t)contribution->count * sizeof(struct packed));
}

/* This member is through. */
static void complete(struct collective *shared, struct comm *comm)
{
    if (++shared->completed < comm->size)
        return;
    for (int rank = 0; rank < comm->size; rank++)
        release_contribution(&shared->of[rank]);
    struct collective **place = &comm->collectives;
    while (*place != shared)
        place = &(*place)->next;
    *place = shared->next;
    world_release(shared->of, (size_t)comm->size * sizeof *shared->of);
    world_release(shared, sizeof *shared);
}

/* This member has posted. Those that may have waited for it look again. */
static void post(struct collective *shared, const struct own_comm *own, bool all_wait)
{
    shared->of[own->rank].posted_ns = world_now_ns + 1;
    if (++shared->posted < own->comm->size && all_wait)
        return;
    for (int rank = 0; rank < own->comm->size; rank++)
        world_wake(own->comm->members[rank]);
}

/* When a member's part can start, so far as the other one decides. */
static int64_t posted_ns(const struct collective *shared, int rank)
{
    return shared->of[rank].posted_ns == 0 ? PLAN_UNKNOWN : shared->of[rank].posted_ns - 1;
}

/* The last of some members' posts. */
static int64_t last_post_ns(const struct collective *shared, int first, int end)
{
    int64_t last_ns = 0;
    for (int rank = first; rank < end && last_ns != PLAN_UNKNOWN; rank++)
        if (posted_ns(shared, rank) > last_ns)
            last_ns = posted_ns(shared, rank);
    return last_ns;
}

/* ---- meetings -------------------------------------------------------------------------------- */

struct collective *meeting(const struct own_comm *own, const void *data, size_t bytes)
{
    struct collective *const shared = join(own);
    struct contribution *const mine = &shared->of[own->rank];
    mine->count = 1;
    mine->pieces = world_allocate(sizeof *mine->pieces);
    mine->pieces[0] = (struct packed){world_allocate(bytes), bytes, true};
    memcpy(mine->pieces[0].start, data, bytes);
    post(shared, own, true);
    while (shared->posted < own->comm->size)
        world_sleep();
    clock_until(last_post_ns(shared, 0, own->comm->size));
    return shared;
}

const void *meeting_of(const struct collective *meeting, int rank)
{
    return meeting->of[rank].pieces[0].start;
}

void **meeting_made(struct collective *meeting, int place) { return &meeting->of[place].made; }

void meeting_end(struct collective *meeting, const struct own_comm *own)
{
    complete(meeting, own->comm);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static MPI_Datatype type_of(const struct blocks *blocks, int i)
{
    return blocks->types != NULL ? blocks->types[i] : blocks->type;
}

static int count_of(const struct blocks *blocks, int i)
{
    return blocks->counts != NULL ? blocks->counts[i] : blocks->count;
}

static char *start_of(const struct blocks *blocks, int i)
{
    MPI_Aint lower, extent;
    ptrdiff_t bytes = 0;
    if (!blocks->many)
        return (char *)blocks->base;
    PMPI_Type_get_extent(type_of(blocks, i), &lower, &extent);
    if (blocks->addresses != NULL)
        bytes = blocks->addresses[i];
    else if (blocks->displs != NULL)
        bytes = blocks->displs[i] * (blocks->types != NULL ? 1 : (ptrdiff_t)extent);
    else if (blocks->counts == NULL)
        bytes = (ptrdiff_t)i * blocks->count * (ptrdiff_t)extent;
    else
        for (int before = 0; before < i; before++)
            bytes += blocks->counts[before] * (ptrdiff_t)extent;
    return (char *)blocks->base + bytes;
}

static int64_t bytes_of_blocks(MPI_Comm comm, const int counts[], MPI_Datatype type,
                               const MPI_Datatype types[])
{
    const struct comm *const shared = comm_find(comm).comm;
    const int blocks =
        shared->dimensions > 0 && types != NULL ? 2 * shared->dimensions : shared->size;
    int64_t bytes = 0;
    for (int i = 0; i < blocks; i++)
        bytes += bytes_of(counts[i], types != NULL ? types[i] : type);
    return bytes;
}

/* True if a member's blocks have counts of their own, so that it may need nothing of some others.
 */
static bool is_by_block(const struct exchange *x)
{
    return x->received.counts != NULL && x->op == MPI_OP_NULL;
}

/* True if a member needs the data of member `from`, unless data only comes from a root. */
static bool needs(const struct exchange *x, int from)
{
    const int block = is_by_block(x) ? from : 0;
    return x->flow == BARRIER ||
           bytes_of(count_of(&x->received, block), type_of(&x->received, block)) > 0;
}

/* ---- posting --------------------------------------------------------------------------------- */

/* Returns the blocks that MPI_IN_PLACE stands for. */
static struct blocks sent_of(const struct part *part)
{
    const struct exchange *const x = &part->exchange;
    struct blocks sent = x->sent;
    if (sent.base != MPI_IN_PLACE)
        return sent;
    if (x->op != MPI_OP_NULL) {
        sent.base = x->received.base;
        return sent;
    }
    if (sent.many)
        return x->received;
    return (struct blocks){.base = start_of(&x->received, part->own.rank),
                           .count = count_of(&x->received, part->own.rank),
                           .type = type_of(&x->received, part->own.rank)};
}

static bool sends(const struct part *part)
{
    const struct exchange *const x = &part->exchange;
    return x->flow != BARRIER && (x->flow != FROM_ROOT || part->own.rank == x->root);
}

static int neighbours_of(const struct part *part, int neighbours[2 * DIMENSIONS_MAX])
{
    return comm_neighbours(part->own.comm, part->own.rank, neighbours);
}

/* Packs what this member sends. */
static void contribute(const struct part *part)
{
    struct contribution *const mine = &part->shared->of[part->own.rank];
    const struct blocks sent = sent_of(part);
    int neighbours[2 * DIMENSIONS_MAX];
    if (!sends(part))
        return;
    mine->count = !sent.many                             ? 1
                  : part->exchange.flow == TO_NEIGHBOURS ? neighbours_of(part, neighbours)
                                                         : part->own.comm->size;
    mine->pieces = world_allocate((size_t)mine->count * sizeof *mine->pieces);
    for (int i = 0; i < mine->count; i++) {
        data_register(start_of(&sent, i), bytes_of(count_of(&sent, i), type_of(&sent, i)));
        mine->pieces[i] = (part->exchange.op != MPI_OP_NULL ? data_keep : data_pack)(
            start_of(&sent, i), count_of(&sent, i), type_of(&sent, i));
    }
}

/* The operation's own, the same on all members. */
static uint64_t number_of(const struct part *part)
{
    return part->shared->number * 8191 + (uint64_t)part->own.comm->id;
}

static void begin_part(struct request *request)
{
    struct part *const part = request->operation;
    part->shared = join(&part->own);
    part->shared->of[part->own.rank].bytes = request->bytes;
    contribute(part);
    if (part->exchange.flow != BARRIER)
        request->longer_share =
            data_apart_share(sent_of(part).base, part->exchange.received.base, request->bytes);
    post(part->shared, &part->own,
         (part->exchange.flow == TO_ALL || part->exchange.flow == BARRIER) &&
             !is_by_block(&part->exchange));
    request_plan(request, number_of(part));
}

static void start_part(struct request *request)
{
    begin_part(request);
    clock_spend(parameters.post_ns);
}

/* ---- completing ------------------------------------------------------------------------------ */

/* True if this member's data is to be wrong: it is the highest one that receives any.
   A barrier lets that one out at once. */
static bool is_damaged(const struct part *part)
{
    const struct exchange *const x = &part->exchange;
    const int last = part->own.comm->size - 1;
    if (parameters.corrupt == 0.0 || part->trusted || (x->flow == BEFORE_SELF && last == 0))
        return false;
    if (x->flow == TO_ROOT)
        return part->own.rank == x->root;
    if (x->flow == FROM_ROOT && !x->sent.many && x->root == last)
        return part->own.rank == last - 1;
    return part->own.rank == last;
}

/* When all are there whose data a member needs that takes data of all. */
static int64_t needed_ns(const struct part *part)
{
    const struct collective *const shared = part->shared;
    const int size = part->own.comm->size, rank = part->own.rank;
    int64_t last_ns = posted_ns(shared, rank);
    if (!is_by_block(&part->exchange) && needs(&part->exchange, 0))
        return shared->posted < size ? PLAN_UNKNOWN : last_post_ns(shared, 0, size);
    if (!is_by_block(&part->exchange))
        return last_ns;
    for (int from = 0; from < size && last_ns != PLAN_UNKNOWN; from++)
        if (from != rank && needs(&part->exchange, from) && posted_ns(shared, from) > last_ns)
            last_ns = posted_ns(shared, from);
    return last_ns;
}

/* When this member leaves a collective that goes by messages. */
static int64_t left_ns(const struct request *request)
{
    const struct part *const part = request->operation;
    const struct exchange *const x = &part->exchange;
    const int size = part->own.comm->size;
    const double factor = plan_factor(number_of(part));
    int64_t *const at_ns = world_grow(NULL, (size_t)size, sizeof *at_ns);
    int64_t *const bytes = world_grow(NULL, (size_t)size, sizeof *bytes);
    for (int rank = 0; rank < size; rank++) {
        at_ns[rank] = posted_ns(part->shared, rank);
        /* Of alltoallv and alltoallw the call's bytes are those to all. */
        bytes[rank] =
            part->shared->of[rank].bytes /
            (x->sent.counts != NULL && x->flow == TO_ALL && x->op == MPI_OP_NULL ? size : 1);
    }
    algorithm_run(
        &(struct algorithm_case){
            .algorithm = algorithm_chosen(),
            .flow = x->flow == FROM_ROOT ? FLOW_FROM_ROOT
                    : x->flow == TO_ROOT ? FLOW_TO_ROOT
                    : x->flow == TO_ALL  ? FLOW_TO_ALL
                                         : FLOW_UP,
            .size = size,
            .root = x->root,
            .bytes = bytes,
            .blocks = x->flow != TO_ALL && x->sent.many != x->received.many,
            .latency_ns = parameters.latency_ns * factor,
            .per_byte_ns = parameters.per_byte_ns * factor,
        },
        at_ns);
    const int64_t end_ns = at_ns[part->own.rank];
    free(at_ns);
    free(bytes);
    return end_ns;
}

static bool resolve_part(struct request *request)
{
    const struct part *const part = request->operation;
    const struct exchange *const x = &part->exchange;
    const int rank = part->own.rank;
    int neighbours[2 * DIMENSIONS_MAX];
    int64_t start_ns = posted_ns(part->shared, rank), others_ns = 0;
    if (request->plan.stage_end_ns != PLAN_UNKNOWN)
        return true;
    if (request->plan_kind == PLAN_BLOCKING && algorithm_chosen() != ALGORITHM_NONE) {
        if (part->shared->posted < part->own.comm->size)
            return false;
        plan_start(&request->plan, left_ns(request));
        return true;
    }
    if (x->flow == BARRIER && is_damaged(part))
        others_ns = start_ns;
    else if (x->flow == BARRIER || x->flow == TO_ALL || (x->flow == TO_ROOT && rank == x->root))
        others_ns = needed_ns(part);
    else if (x->flow == FROM_ROOT && (rank == x->root || needs(x, 0)))
        others_ns = posted_ns(part->shared, x->root);
    else if (x->flow == UP_TO_SELF || x->flow == BEFORE_SELF)
        others_ns = last_post_ns(part->shared, 0, rank);
    else if (x->flow == TO_NEIGHBOURS)
        for (int i = neighbours_of(part, neighbours) - 1; i >= 0; i--)
            if (neighbours[i] != MPI_PROC_NULL &&
                posted_ns(part->shared, neighbours[i]) > others_ns)
                others_ns = posted_ns(part->shared, neighbours[i]);
    if (others_ns == PLAN_UNKNOWN)
        return false;
    plan_start(&request->plan, others_ns > start_ns ? others_ns : start_ns);
    return true;
}

/* Receives a piece of another member. */
static void receive_piece(const struct part *part, int from, int piece, int i, bool damaged)
{
    const struct contribution *const other = &part->shared->of[from];
    const struct blocks *const received = &part->exchange.received;
    if (other->pieces == NULL)
        return; /* it isn't there yet, and has nothing for this member */
    const struct packed *const packed = &other->pieces[other->count == 1 ? 0 : piece];
    if (damaged)
        data_damage(packed);
    data_register(start_of(received, i), bytes_of(count_of(received, i), type_of(received, i)));
    data_unpack(packed, start_of(received, i), count_of(received, i), type_of(received, i));
}

/* Reduces the pieces of the members first to end - 1, in their order. */
static void reduce(const struct part *part, int first, int end)
{
    const struct exchange *const x = &part->exchange;
    const struct contribution *const of = part->shared->of;
    if (!needs(x, 0))
        return;
    const int piece = of[first].count == 1 ? 0 : part->own.rank;
    const struct packed *const last = end > first ? &of[end - 1].pieces[piece] : NULL;
    if (last == NULL || last->start == NULL)
        return;
    struct packed sum = {world_allocate(last->bytes), last->bytes, true};
    memcpy(sum.start, last->start, last->bytes);
    for (int rank = end - 2; rank >= first; rank--)
        PMPI_Reduce_local(of[rank].pieces[piece].start, sum.start, count_of(&x->received, 0),
                          x->received.type, x->op);
    if (is_damaged(part))
        data_damage(&sum);
    data_register(x->received.base, (int64_t)sum.bytes);
    data_unpack(&sum, (void *)x->received.base, count_of(&x->received, 0), x->received.type);
    data_release(&sum);
}

static void receive_all(const struct part *part)
{
    const struct exchange *const x = &part->exchange;
    const int size = part->own.comm->size, rank = part->own.rank;
    int neighbours[2 * DIMENSIONS_MAX];
    bool damaged = is_damaged(part);
    const bool reduces = x->op != MPI_OP_NULL;
    switch (x->flow) {
    case BARRIER:
        break;
    case FROM_ROOT:
        if (x->received.base != MPI_IN_PLACE && (rank != x->root || x->sent.many))
            receive_piece(part, x->root, rank, 0, damaged);
        break;
    case TO_ROOT:
    case TO_ALL:
        if (x->flow == TO_ROOT && rank != x->root)
            break;
        if (reduces)
            reduce(part, 0, size);
        else
            for (int from = 0; from < size; from++, damaged = false)
                receive_piece(part, from, rank, from, damaged);
        break;
    case UP_TO_SELF:
        reduce(part, 0, rank + 1);
        break;
    case BEFORE_SELF:
        reduce(part, 0, rank);
        break;
    case TO_NEIGHBOURS:
        /* Data from below in a dimension was sent upwards. */
        for (int i = 0, count = neighbours_of(part, neighbours); i < count; i++)
            if (neighbours[i] != MPI_PROC_NULL) {
                receive_piece(part, neighbours[i], i ^ 1, i, damaged);
                damaged = false;
            }
        break;
    }
}

static void deliver_part(struct request *request, MPI_Status *status)
{
    struct part *const part = request->operation;
    receive_all(part);
    complete(part->shared, part->own.comm);
    status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static void release_part(struct request *request) { free(request->operation); }

static const struct request_kind collective_kind = {
    .start = start_part, .resolve = resolve_part, .deliver = deliver_part, .release = release_part};

/* Ranks may leave a barrier at different times. */
static void leave(const struct exchange *x)
{
    static uint64_t random;
    if (x->flow != BARRIER || parameters.skew_ns == 0.0)
        return;
    if (random == 0)
        random = (uint64_t)parameters.seed * 31 + (uint64_t)(world->launch * world->ranks) +
                 (uint64_t)world_rank;
    clock_until(world_now_ns + llround(world_random(&random) * parameters.skew_ns));
}

static struct request *make_part(const char *name, enum plan_kind kind, int64_t bytes,
                                 MPI_Comm comm, const struct exchange *exchange,
                                 MPI_Request *handle)
{
    struct part *const part = malloc(sizeof *part);
    *part = (struct part){.own = comm_find(comm), .exchange = *exchange};
    return request_make(&collective_kind, name, kind, bytes, part, handle);
}

static void block(const char *name, enum plan_kind kind, int64_t bytes, MPI_Comm comm,
                  const struct exchange *exchange)
{
    struct part part = {
        .own = comm_find(comm), .exchange = *exchange, .trusted = kind != PLAN_NEIGHBOURHOOD};
    struct request request = {.kind = &collective_kind,
                              .persistent = true, /* it isn't freed */
                              .name = name,
                              .plan_kind = kind,
                              .bytes = bytes,
                              .operation = &part};
    begin_part(&request);
    request_wait(&(struct request *){&request}, 1, MPI_STATUSES_IGNORE);
    leave(exchange);
}

/* ---- the functions --------------------------------------------------------------------------- */

#define STRIP(...) __VA_ARGS__
#define EXCHANGE(Flow, Root, Op, sent_blocks, received_blocks)                                     \
    {                                                                                              \
        .flow = Flow, .root = Root, .op = Op, .sent = {STRIP sent_blocks}, .received = {           \
            STRIP received_blocks                                                                  \
        }                                                                                          \
    }

#define COLLECTIVE(NonBlocking, Blocking, name, plan, params, args, bytes, ...)                    \
    int PMPI_##Blocking params                                                                     \
    {                                                                                              \
        const struct exchange exchange = EXCHANGE(__VA_ARGS__);                                    \
        block(name, plan, bytes, comm, &exchange);                                                 \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    MPI_NAME(Blocking)                                                                             \
    int PMPI_##NonBlocking(STRIP params, MPI_Request *request)                                     \
    {                                                                                              \
        const struct exchange exchange = EXCHANGE(__VA_ARGS__);                                    \
        start_part(make_part("i" name, PLAN_COLLECTIVE, bytes, comm, &exchange, request));         \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    MPI_NAME(NonBlocking)
#include "tests/virtual/collectives.def"

/* Persistent ones, where the library has them. Open MPI 4.1 calls them MPIX_. */
#if MPI_VERSION >= 4
#define COLLECTIVE(NonBlocking, Blocking, name, plan, params, args, bytes, ...)                    \
    int PMPI_##Blocking##_init(STRIP params, MPI_Info info, MPI_Request *request)                  \
    {                                                                                              \
        const struct exchange exchange = EXCHANGE(__VA_ARGS__);                                    \
        (void)info;                                                                                \
        make_part(name "_init", PLAN_COLLECTIVE, bytes, comm, &exchange, request)->persistent =    \
            true;                                                                                  \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    MPI_NAME(Blocking##_init)
#include "tests/virtual/collectives.def"
#endif
