/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations. One starts when it is posted, or g after this rank's last one, and takes
 * effect when a synchronisation of this rank completes it, which takes as long as a wait does.
 */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/windows.h"
#include "tests/virtual/world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum what { PUT, GET, ACCUMULATE, FETCH, SWAP };

/* A buffer of one side of a transfer. */
struct side {
    const void *base;
    int64_t count;
    MPI_Datatype type;
};

/* An operation that this rank has posted and not completed. */
struct transfer {
    enum what what;
    struct side origin; /* of a get: where data comes to */
    int target;
    MPI_Aint displacement;
    struct side at_target; /* without a base */
    MPI_Op op;
    void *result;        /* of atomic operations: what was there before */
    char operand[2][16]; /* of these: the origin's value, and what it is compared with */
    struct own_window *own;
    struct request *request;
    bool asked; /* its caller has the request */
    bool done;
};

/* ---- data ------------------------------------------------------------------------------------ */

/* The target's memory, or a copy that give_back writes back. */
static char *borrow(const struct exposed *part, int64_t offset, size_t bytes)
{
    if (part->shared || part->process == getpid())
        return part->base + offset;
    char *const copy = calloc(bytes + 1, 1);
    if (process_vm_readv(part->process, &(struct iovec){copy, bytes}, 1,
                         &(struct iovec){part->base + offset, bytes}, 1, 0) != (ssize_t)bytes)
        world_abort("can't read another rank's memory");
    return copy;
}

static void give_back(const struct exposed *part, int64_t offset, size_t bytes, char *memory)
{
    if (part->shared || part->process == getpid())
        return;
    if (process_vm_writev(part->process, &(struct iovec){memory, bytes}, 1,
                          &(struct iovec){part->base + offset, bytes}, 1, 0) != (ssize_t)bytes)
        world_abort("can't write another rank's memory");
    free(memory);
}

static size_t span_of(const struct side *side)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    PMPI_Type_get_extent(side->type, &lower, &extent);
    PMPI_Type_get_true_extent(side->type, &true_lower, &true_extent);
    return side->count == 0 ? 0
                            : (size_t)((side->count - 1) * (int64_t)extent + (int64_t)true_lower +
                                       (int64_t)true_extent);
}

static void copy(const struct side *from, const struct side *to)
{
    static int64_t copies;
    struct packed packed = data_pack(from->base, from->count, from->type);
    if (parameters.corrupt != 0.0 && packed.bytes > 0 &&
        ++copies % (int64_t)parameters.corrupt_every == 0)
        data_damage(&packed);
    data_unpack(&packed, (void *)to->base, to->count, to->type);
    data_release(&packed);
}

static void combine(const void *operand, char *there, const struct side *side, MPI_Op op)
{
    if (op == MPI_REPLACE)
        memcpy(there, operand, span_of(side));
    else if (op != MPI_NO_OP)
        PMPI_Reduce_local(operand, there, (int)side->count, side->type, op);
}

static void take_effect(struct transfer *transfer)
{
    const struct exposed *const part = &transfer->own->window->of[transfer->target];
    const int64_t offset = (int64_t)transfer->displacement * part->unit;
    struct side there = transfer->at_target;
    const size_t bytes = span_of(&there);
    char *const memory = borrow(part, offset, bytes);
    there.base = memory;
    switch (transfer->what) {
    case PUT:
        if (!part->stale)
            copy(&transfer->origin, &there);
        break;
    case GET:
        copy(&there, &transfer->origin);
        break;
    case ACCUMULATE:
        combine(transfer->origin.base, memory, &there, transfer->op);
        break;
    case FETCH:
        memcpy(transfer->result, memory, bytes);
        combine(transfer->operand[0], memory, &there, transfer->op);
        break;
    case SWAP:
        memcpy(transfer->result, memory, bytes);
        if (memcmp(memory, transfer->operand[1], bytes) == 0)
            memcpy(memory, transfer->operand[0], bytes);
        break;
    }
    give_back(part, offset, bytes, memory);
    transfer->done = true;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static int64_t last_started_ns = INT64_MIN / 2;

static void remove_transfer(struct transfer *transfer)
{
    struct own_window *const own = transfer->own;
    int i = 0;
    while (own->transfers[i] != transfer)
        i++;
    memmove(&own->transfers[i], &own->transfers[i + 1],
            (size_t)(--own->count - i) * sizeof(struct transfer *));
    free(transfer);
}

static bool resolve_transfer(struct request *request)
{
    (void)request;
    return true;
}

/* A synchronisation may have completed the transfer before its request is. */
static void deliver_transfer(struct request *request, MPI_Status *status)
{
    struct transfer *const transfer = request->operation;
    if (!transfer->done) {
        world_settle_now();
        take_effect(transfer);
    }
    remove_transfer(transfer);
    status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const struct request_kind transfer_kind = {.resolve = resolve_transfer,
                                                  .deliver = deliver_transfer};

static uint64_t next_number(void)
{
    static uint64_t posted;
    return (uint64_t)1 << 62 | (uint64_t)world_rank << 40 | posted++;
}

/* handle is NULL where a synchronisation completes the transfer. */
static int post_transfer(const char *name, MPI_Win window, const struct transfer *transfer,
                         MPI_Request *handle)
{
    struct own_window *const own = window_find(window);
    struct transfer *const kept = malloc(sizeof *kept);
    *kept = *transfer;
    kept->own = own;
    kept->asked = handle != NULL;
    kept->request = request_make(&transfer_kind, name, PLAN_ONE_SIDED,
                                 bytes_of(kept->origin.count, kept->origin.type), kept, handle);
    own->transfers = world_grow(own->transfers, (size_t)own->count + 1, sizeof(struct transfer *));
    own->transfers[own->count++] = kept;
    data_register(kept->origin.base, kept->request->bytes);
    if (kept->what <= GET)
        truth_sent(own->own.comm->members[kept->target]);
    const int64_t start_ns = plan_after_gap(&last_started_ns, world_now_ns);
    request_plan(kept->request, next_number());
    plan_start(&kept->request->plan, start_ns);
    clock_spend(parameters.post_ns);
    return MPI_SUCCESS;
}

#define TRANSFER(Name, Requesting, name, What, Constant)                                           \
    int PMPI_##Name(Constant void *origin, int count, MPI_Datatype type, int target,               \
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type,             \
                    MPI_Win window)                                                                \
    {                                                                                              \
        const struct transfer transfer = {.what = What,                                            \
                                          .origin = {origin, count, type},                         \
                                          .target = target,                                        \
                                          .displacement = displacement,                            \
                                          .at_target = {NULL, target_count, target_type}};         \
        return post_transfer(name, window, &transfer, NULL);                                       \
    }                                                                                              \
    MPI_NAME(Name)                                                                                 \
    int PMPI_##Requesting(Constant void *origin, int count, MPI_Datatype type, int target,         \
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type,       \
                          MPI_Win window, MPI_Request *request)                                    \
    {                                                                                              \
        const struct transfer transfer = {.what = What,                                            \
                                          .origin = {origin, count, type},                         \
                                          .target = target,                                        \
                                          .displacement = displacement,                            \
                                          .at_target = {NULL, target_count, target_type}};         \
        return post_transfer("r" name, window, &transfer, request);                                \
    }                                                                                              \
    MPI_NAME(Requesting)

TRANSFER(Put, Rput, "put", PUT, const)
TRANSFER(Get, Rget, "get", GET, )

int PMPI_Accumulate(const void *origin, int count, MPI_Datatype type, int target,
                    MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                    MPI_Win window)
{
    const struct transfer transfer = {.what = ACCUMULATE,
                                      .origin = {origin, count, type},
                                      .target = target,
                                      .displacement = displacement,
                                      .at_target = {NULL, target_count, target_type},
                                      .op = op};
    return post_transfer("accumulate", window, &transfer, NULL);
}
MPI_NAME(Accumulate)

/* An atomic operation of one element, whose operands are kept. */
static struct transfer atomic(enum what what, const void *operand, void *result, MPI_Datatype type,
                              int target, MPI_Aint displacement)
{
    struct transfer transfer = {.what = what,
                                .origin = {NULL, 1, type},
                                .target = target,
                                .displacement = displacement,
                                .at_target = {NULL, 1, type},
                                .result = result};
    if (operand != NULL)
        memcpy(transfer.operand[0], operand, (size_t)bytes_of(1, type));
    return transfer;
}

int PMPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target,
                      MPI_Aint displacement, MPI_Op op, MPI_Win window)
{
    struct transfer transfer =
        atomic(FETCH, op != MPI_NO_OP ? origin : NULL, result, type, target, displacement);
    transfer.op = op;
    return post_transfer("fetch_and_op", window, &transfer, NULL);
}
MPI_NAME(Fetch_and_op)

int PMPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                          int target, MPI_Aint displacement, MPI_Win window)
{
    struct transfer transfer = atomic(SWAP, origin, result, type, target, displacement);
    memcpy(transfer.operand[1], compare, (size_t)bytes_of(1, type));
    return post_transfer("compare_and_swap", window, &transfer, NULL);
}
MPI_NAME(Compare_and_swap)

/* ---- completion
 * ---------------------------------------------------------------------------------- */

static bool concerns(const struct transfer *transfer, int target)
{
    return !transfer->done && (target == EVERY_TARGET || transfer->target == target);
}

void transfers_complete(struct own_window *own, int target)
{
    const int64_t call_ns = world_now_ns;
    int64_t end_ns = call_ns;
    double host_ns = 0.0;
    int found = 0;
    for (int i = 0; i < own->count; i++) {
        if (!concerns(own->transfers[i], target))
            continue;
        const struct plan *const plan = &own->transfers[i]->request->plan;
        const int64_t own_ns = plan_end_ns(plan, call_ns);
        end_ns = own_ns > end_ns ? own_ns : end_ns;
        host_ns += plan->host_ns;
        found++;
    }
    if (found == 0)
        return;
    clock_until(end_ns);
    clock_spend(host_ns);
    world_settle_now();
    for (int i = 0; i < own->count; i++)
        if (concerns(own->transfers[i], target))
            take_effect(own->transfers[i]);
}

void transfers_forget_done(struct own_window *own)
{
    int kept = 0;
    for (int i = 0; i < own->count; i++) {
        struct transfer *const transfer = own->transfers[i];
        struct request *const request = transfer->request;
        if (!transfer->done || transfer->asked) {
            own->transfers[kept++] = transfer;
            continue;
        }
        truth_completed(request->name, request->plan_kind, request->bytes);
        request_forget(request);
        free(transfer);
    }
    own->count = kept;
}
