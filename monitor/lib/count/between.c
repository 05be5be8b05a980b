/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/between.h"

struct settled {
    struct sized_kind which;
    int64_t operations;
};

enum { NO_OPERATION = UINT8_MAX };

/* State of this thread since its last call, in memory that exists from its start, so reading it
   needs no call. */
static _Thread_local struct {
    uint64_t computing_ticks; /* the computing clock then */
    int64_t operations;       /* number of operations that the call completed */
    int count;                /* entries of `settled` */
    int16_t communicator;     /* of the call, unless its kind is NO_OPERATION */
    uint8_t kind;
    struct settled settled[SETTLED_MAX];
} between __attribute__((tls_model("initial-exec"))) = {.kind = NO_OPERATION};

uint64_t between_burst = 1;
static uint64_t joinable_ticks; /* JOINABLE_NS in ticks */

void between_start(void) { joinable_ticks = (uint64_t)(JOINABLE_NS / ticks_ns()); }

/* Divides the computation since the last call among the operations that it completed. */
static void count_computation(uint64_t ticks)
{
    if (between.count == 0 || ticks == 0)
        return;
    monitor_lock();
    for (int i = 0; i < between.count; i++) {
        const struct settled *const settled = &between.settled[i];
        const double part = (double)settled->operations / (double)between.operations;
        const struct size_amounts amounts = {.after_ticks = (uint64_t)((double)ticks * part)};
        snapshots_add_sizes(&settled->which, &amounts);
    }
    monitor_unlock();
}

/* Begins the time after a call. Returns the computation before the call. */
static uint64_t leave(int kind, int communicator)
{
    const uint64_t ticks = inside.computing_ticks - between.computing_ticks;
    count_computation(ticks);
    between.computing_ticks = inside.computing_ticks;
    between.kind = (uint8_t)kind;
    between.communicator = (int16_t)communicator;
    between.operations = between.count = 0;
    return ticks;
}

bool between_operation_left(enum operation_kind kind, int communicator)
{
    const bool follows_its_like = between.kind == kind && between.communicator == communicator;
    return leave((int)kind, communicator) < joinable_ticks && follows_its_like;
}

void between_call_left(void) { (void)leave(NO_OPERATION, NO_COMMUNICATOR); }

static bool is_same(const struct sized_kind *a, const struct sized_kind *b)
{
    return a->kind == b->kind && a->communicator == b->communicator &&
           a->size_class == b->size_class && a->epoch == b->epoch;
}

void between_settle(const struct sized_kind *which, int64_t count, bool ends_burst)
{
    if (ends_burst)
        between_burst++;
    between.operations += count;
    for (int i = 0; i < between.count; i++)
        if (is_same(&between.settled[i].which, which)) {
            between.settled[i].operations += count;
            return;
        }
    if (between.count < SETTLED_MAX)
        between.settled[between.count++] = (struct settled){*which, count};
}
