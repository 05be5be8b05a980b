/*
 * What a thread does between its calls of MPI: which operations its last call completed, and what
 * it computed since. Operations that a call completed have equal parts of the computation that
 * follows, up to the next call: work that could be done before the call, if it needs nothing that
 * the call brought. Only calls of which the monitor keeps sizes are followed, and only outermost
 * ones, see inside.h. All functions are local and need no lock.
 */
#ifndef COMMCOST_MONITOR_BETWEEN_H
#define COMMCOST_MONITOR_BETWEEN_H

#include <stdint.h>

/* Operations of one kind, communicator, epoch and class of sizes that a call completed. */
struct settled {
    uint32_t epoch;
    int16_t communicator;
    uint8_t kind, size_class;
    int64_t operations;
};

/* A call that completes more than these different ones gives the rest no part. */
enum { SETTLED_MAX = 16 };

/* No call, or one that is no operation. */
enum { BETWEEN_NONE = UINT8_MAX };

/* Of this thread. */
extern _Thread_local struct between {
    uint64_t computing_ticks; /* the computing clock when the thread left its last call */
    int64_t operations;       /* that the call completed, all together */
    int count;                /* of `settled` */
    int16_t communicator;     /* of the call, if it is an operation ... */
    uint8_t kind;             /* ... of this kind */
    struct settled settled[SETTLED_MAX];
} between __attribute__((tls_model("initial-exec")));

/* The thread has left a call: begins what follows it. */
static inline void between_begin(uint64_t computing_ticks, int kind, int communicator)
{
    between.computing_ticks = computing_ticks;
    between.kind = (uint8_t)kind;
    between.communicator = (int16_t)communicator;
    between.operations = between.count = 0;
}

/* The call that the thread has left last completed these. */
void between_settle(const struct settled *settled);

#endif
