/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processor time that a rank loses to other processes, and a virtual machine to its host.
 *
 * An MPI library that polls keeps its rank ready to run all the time, so the rank waits whenever
 * something else runs on its processor. Linux counts that wait for each thread
 * (Documentation/scheduler/sched-stats.rst: the second number in /proc/<pid>/schedstat, in ns);
 * this code uses the thread that writes the rows. The kernel counts the time that the host of a
 * virtual machine takes in ticks, for all processors of a node together (proc(5): steal). That time
 * is judged over the whole run.
 *
 * None of these functions runs in a timed region.
 */
#pragma once

#include "common/job/job.h"
#include "common/result/writer.h"

/* The time of all processors of a node so far, in ticks; zeros if it isn't known. */
struct bc_ticks {
    int64_t stolen; /* by the host */
    int64_t busy;   /* all except idle, including the stolen */
};

struct bc_contention {
    int64_t waited_ns;     /* until the last look; -1: not known */
    double looked_s;       /* the time of that look, on bc_elapsed_s() */
    struct bc_ticks ticks; /* at the beginning */
};

/* Elapsed and waiting time of a rank in a row's visits. All zeros before the first visit. */
struct bc_waits {
    double seconds, waited_s;
    bool unknown; /* waited_s is not known */
};

/* Returns the share of the time in which a rank waited for a processor; 0 if it isn't worth a
   warning or isn't known. Local. */
double bc_waited_share(const struct bc_waits *waits);

/* Begins to count for the calling thread. Local. */
void bc_contention_begin(struct bc_contention *contention);

/* Adds the times since the last look, or the beginning, to `waits` unless it is NULL. Call it in
   the thread that began. Local. */
void bc_contention_look(struct bc_contention *contention, struct bc_waits *waits);

/* Warns on rank 0 if a rank waited too long in row number `row`, which follows, and names the rank
   that waited most. Does nothing if ranks share processors, since they have a warning of their own.
   Collective over MPI_COMM_WORLD. */
void bc_contention_row(const struct bc_waits *waits, const struct bc_job *job,
                       struct bc_output *output, int64_t row);

/* Warns on rank 0 if the host of some node took too much of its processors' time since the
   beginning. Collective over MPI_COMM_WORLD. */
void bc_contention_end(const struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output);
