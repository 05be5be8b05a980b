/*
 * The calls that monitor_overhead times: loops of each, once through the monitor's wrappers and
 * once directly.
 */
#ifndef MONITOR_OVERHEAD_CALLS_H
#define MONITOR_OVERHEAD_CALLS_H

#include <mpi.h>
#include <stdint.h>

enum { OVERHEAD_MESSAGE_BYTES = 8, OVERHEAD_MANY = 8 };

/* What the loops work on. All communication is of this process with itself. */
struct overhead_bench {
    char sent[OVERHEAD_MESSAGE_BYTES * OVERHEAD_MANY],
        received[OVERHEAD_MESSAGE_BYTES * OVERHEAD_MANY];
    double value, sum;
    MPI_Win window;          /* locked for all, of one page */
    MPI_Request persistent;  /* a send */
    MPI_Request never;       /* a receive that nothing is sent to */
    MPI_Status *no_statuses; /* MPI_STATUSES_IGNORE: as a constant the compiler takes it for an
                                array of none */
};

/* Collective over MPI_COMM_SELF. */
void overhead_bench_create(struct overhead_bench *bench);
void overhead_bench_destroy(struct overhead_bench *bench);

/* Does so many repetitions and returns the ns that they took. */
typedef int64_t overhead_loop_fn(struct overhead_bench *bench, int64_t repetitions);

/* A kind of call. Both loops are the same but for how these calls are made; what else a repetition
   needs, say the receive of what is sent, is always called directly. */
struct overhead_call {
    const char *name; /* the calls of a repetition that differ */
    overhead_loop_fn *monitored, *direct;
};

/* Times a loop, after one repetition that isn't timed; returns ns. What it leaves in flight, puts,
   is completed before this returns, outside of the timing. */
int64_t overhead_loop(struct overhead_bench *bench, overhead_loop_fn *loop, int64_t repetitions);

/*
 * Times both loops of a call in turn; stores the ns of a repetition, monitored in values[0] and
 * direct in values[1].
 *
 * The order is monitored, direct, direct, monitored, after a monitored loop that doesn't count. So
 * the two that make a value have the same mean position, and each kind follows once its own kind
 * and once the other: what drifts, what falls on the first loop and what a loop leaves to the next
 * one are no part of the difference.
 */
void overhead_take(struct overhead_bench *bench, const struct overhead_call *call,
                   int64_t repetitions, double values[2]);

extern const struct overhead_call overhead_calls[];
extern const int overhead_calls_count;

#endif
