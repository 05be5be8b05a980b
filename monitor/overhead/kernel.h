/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timed loops of monitor_overhead: for each kind of call one through the monitor's wrappers and
 * one directly.
 */
#pragma once

#include <mpi.h>
#include <stdint.h>

enum { MONITOR_MESSAGE_BYTES = 8, MONITOR_MANY = 8, MONITOR_WAITANY = 10000 };

/* The data of the loops. This process communicates with itself only. */
struct monitor_bench {
    char sent[MONITOR_MESSAGE_BYTES * MONITOR_MANY], received[MONITOR_MANY][MONITOR_MESSAGE_BYTES];
    double value, sum;
    MPI_Win window;                          /* in an epoch of MPI_Win_lock_all */
    MPI_Request persistent;                  /* a send */
    MPI_Request never;                       /* a receive without a matching send */
    MPI_Request of_waitany[MONITOR_WAITANY]; /* only the last one completes */
    MPI_Status *no_statuses; /* MPI_STATUSES_IGNORE; gcc warns of MPICH's constant, which it takes
                                for an array of size 0 */
};

/* Make and free the data of the loops. Collective over MPI_COMM_SELF. */
void monitor_bench_create(struct monitor_bench *bench);
void monitor_bench_destroy(struct monitor_bench *bench);

/* Times `repetitions` repetitions and returns the time in ns. */
typedef int64_t monitor_loop_fn(struct monitor_bench *bench, int64_t repetitions);

/* A kind of call. Both loops make the same calls. Those in `name` go through the wrappers in one
   loop and directly to MPI in the other; other calls that a repetition needs, such as the receive
   of a sent message, are direct in both. */
struct monitor_call {
    const char *name; /* the calls of a repetition that differ */
    monitor_loop_fn *monitored, *direct;
};

/* Times a loop after one repetition that isn't timed, and returns the time in ns. Completes the
   puts that the loop left in flight, outside of the timing. */
int64_t monitor_loop(struct monitor_bench *bench, monitor_loop_fn *loop, int64_t repetitions);

/*
 * Times both loops of a call alternately. Stores the time of all repetitions in ns: ns[0]
 * monitored, ns[1] direct.
 *
 * The order is monitored, direct, direct, monitored, after a monitored loop that is discarded. So
 * the loops of both kinds have the same mean position, and each kind of loop follows its own kind
 * once and the other kind once. Drift, a slow first loop, and what a loop leaves behind for the
 * next one cancel in the difference.
 */
void monitor_take(struct monitor_bench *bench, const struct monitor_call *call, int64_t repetitions,
                  double ns[2]);

extern const struct monitor_call monitor_calls[];
extern const int monitor_calls_count;
