/*
 * What a thread does between its calls of MPI: which operations its last call completed, and what
 * it computes until the next. Operations that one call completed have equal parts of the
 * computation that follows: work that could be done before that call, if it needs nothing that the
 * call brought.
 *
 * An operation is joinable if it could have been part of an earlier one: a message or put of a
 * function to a destination to which one went in the same burst, which is what a process sends
 * until it next completes a receive, a collective, or something that it waits for; a collective
 * that follows one of the same function on the same communicator, without another call between, and
 * with less than JOINABLE_NS of computation.
 *
 * Calls are followed while sizes are counted, and outermost ones only, see inside.h.
 */
#include "monitor/snapshot.h"

enum { JOINABLE_NS = 1000 };

/* A call that completes operations of more kinds than these gives the rest no part. */
enum { SETTLED_MAX = 16 };

struct settled {
    struct sized_kind which;
    int64_t operations;
};

/* The kind of a call that is no operation. */
enum { NO_OPERATION = UINT8_MAX };

/* Of this thread, since it left its last call. In the memory that every thread has from its start,
   so that reading it takes no call. */
static _Thread_local struct {
    uint64_t computing_ticks; /* the computing clock then */
    int64_t operations;       /* that the call completed, all together */
    int count;                /* of `settled` */
    int16_t communicator;     /* of the call, unless its kind is NO_OPERATION */
    uint8_t kind;
    struct settled settled[SETTLED_MAX];
} between __attribute__((tls_model("initial-exec"))) = {.kind = NO_OPERATION};

uint64_t between_burst = 1;
static uint64_t joinable_ticks; /* JOINABLE_NS */

void between_start(void) { joinable_ticks = (uint64_t)(JOINABLE_NS / ticks_ns()); }

/* Begins what follows a call. Returns the computation before it, of which what the last call
   completed gets its parts. */
static uint64_t leave(int kind, int communicator)
{
    const uint64_t ticks = inside.computing_ticks - between.computing_ticks;
    if (between.count > 0)
        monitor_lock();
    for (int i = 0; i < between.count; i++) {
        const struct settled *const settled = &between.settled[i];
        const double part = (double)settled->operations / (double)between.operations;
        const struct size_amounts amounts = {.after_ticks = (uint64_t)((double)ticks * part)};
        snapshots_add_sizes(&settled->which, &amounts);
    }
    if (between.count > 0)
        monitor_unlock();
    between.computing_ticks = inside.computing_ticks;
    between.kind = (uint8_t)kind;
    between.communicator = (int16_t)communicator;
    between.operations = between.count = 0;
    return ticks;
}

static bool is_collective(const struct operation *operation)
{
    return operation_traits[operation->kind].class == CLASS_COLLECTIVE;
}

void between_operation_left(struct operation *operation)
{
    const bool follows_its_like =
        between.kind == operation->kind && between.communicator == operation->communicator;
    const uint64_t ticks = leave(operation->kind, operation->communicator);
    if (is_collective(operation))
        operation->joinable = follows_its_like && ticks < joinable_ticks;
}

void between_call_left(void) { (void)leave(NO_OPERATION, NO_COMMUNICATOR); }

void between_settle(const struct operation *first, int64_t count, bool are_waited_for)
{
    const struct sized_kind which = sized_kind_of(first);
    if (are_waited_for || first->receives || is_collective(first))
        between_burst++;
    between.operations += count;
    for (int i = 0; i < between.count; i++)
        if (memcmp(&between.settled[i].which, &which, sizeof which) == 0) {
            between.settled[i].operations += count;
            return;
        }
    if (between.count < SETTLED_MAX)
        between.settled[between.count++] = (struct settled){which, count};
}
