/*
 * The calls that monitor_overhead times: loops of each, once through the monitor's wrappers and once directly.
 */
#ifndef MONITOR_OVERHEAD_CALLS_H
#define MONITOR_OVERHEAD_CALLS_H

#include <mpi.h>
#include <stdint.h>

enum { OVERHEAD_MESSAGE_BYTES = 8, OVERHEAD_MANY = 8 };

/* What the loops work on. All communication is of this process with itself. */
struct overhead_bench {
    char sent[OVERHEAD_MESSAGE_BYTES * OVERHEAD_MANY], received[OVERHEAD_MESSAGE_BYTES * OVERHEAD_MANY];
    double value, sum;
    MPI_Win window;            /* locked for all, of one page */
    MPI_Request persistent;    /* a send */
    MPI_Request never;         /* a receive that nothing is sent to */
    MPI_Status *no_statuses;   /* MPI_STATUSES_IGNORE: as a constant the compiler takes it for an array of none */
};

/* Collective over MPI_COMM_SELF. */
void overhead_bench_create(struct overhead_bench *bench);
void overhead_bench_destroy(struct overhead_bench *bench);

/* Does so many repetitions and returns the ns that they took. */
typedef int64_t overhead_loop_fn(struct overhead_bench *bench, int64_t repetitions);

/* A kind of call. Both loops are the same but for how these calls are made; what else a repetition needs, say the receive
   of what is sent, is always called directly. */
struct overhead_call {
    const char *name; /* the calls of a repetition that differ */
    overhead_loop_fn *monitored, *direct;
};

extern const struct overhead_call overhead_calls[];
extern const int overhead_calls_count;

#endif
