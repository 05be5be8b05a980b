/*
 * The processor time that a rank loses to other processes, and a virtual machine to its host.
 *
 * An MPI library that polls keeps its rank ready to run all the time, so the rank waits whenever
 * something else runs on its processor. Linux counts that wait for each thread
 * (Documentation/scheduler/sched-stats.rst: the second number in /proc/<pid>/schedstat, in ns);
 * where it doesn't, it counts how often the thread was preempted (getrusage, ru_nivcsw). Only the
 * thread that writes the rows is looked at.
 *
 * The host of a virtual machine may take processors away, too. The kernel counts that in ticks, and
 * for all processors of a node together (proc(5): steal), so it is looked at once, over the whole
 * run.
 *
 * None of these functions runs in a timed region. A job whose ranks share processors has a warning
 * of its own, and its rows get none from here.
 */
#ifndef COMMCOST_COMMON_MACHINE_CONTENTION_H
#define COMMCOST_COMMON_MACHINE_CONTENTION_H

#include "common/machine/job.h"
#include "common/result/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row gets a warning if some rank waited for a larger share of its time, or, where the wait isn't
   known, was preempted more often. Below that the median doesn't move; the services of a quiet
   system take less than 1 %. */
#define BC_WAITED_SHARE_MAX 0.05
#define BC_SWITCHES_PER_S_MAX 25.0

/* A shorter wait gets no warning, unless its share exceeds BC_WAITED_SHARE_MUCH, and neither do
   fewer preemptions: a service that wakes up now and then is no competitor, even if a short row
   meets it. */
#define BC_WAITED_S_MIN 0.005
#define BC_WAITED_SHARE_MUCH 0.25
#define BC_SWITCHES_MIN 5

/* The run gets a warning if a host took a larger share of the busy ticks, and at least this many
   ticks. */
#define BC_STOLEN_SHARE_MAX 0.05
#define BC_STOLEN_TICKS_MIN 10

/* The time of all processors of a node so far, in ticks. */
struct bc_ticks {
    int64_t stolen; /* by the host */
    int64_t busy;   /* all but idle, including the stolen */
};

struct bc_contention {
    int schedstat;         /* a file descriptor, or -1 where the kernel has no such file */
    int64_t waited_ns;     /* until the last look; -1: not known */
    int64_t switches;      /* preemptions until the last look */
    double looked_s;       /* when that look was, on bc_elapsed_s() */
    struct bc_ticks ticks; /* at the beginning */
};

/* What a rank lost between two looks; 0 for what isn't worth a warning. */
struct bc_loss {
    double waited_share;   /* of the time, waiting for a processor; 0 also where it isn't known */
    double switches_per_s; /* preemptions; 0 where the wait is known */
};

/* The loss within `seconds`, of which the rank waited waited_s for a processor (negative: not
   known) and in which it was preempted `switches` times. Local. */
struct bc_loss bc_loss_of(double seconds, double waited_s, int64_t switches);

/* Begins to count for the calling thread. `schedstat` is a path; NULL: the kernel's file. Local. */
void bc_contention_begin(struct bc_contention *contention, const char *schedstat);

/* The loss since the last look, or since the beginning. Local. */
struct bc_loss bc_contention_look(struct bc_contention *contention);

/* Warns on rank 0 if some rank lost too much since the last row, and names the rank that lost most.
   The thread that began calls this before row number `row` is written. Collective over
   MPI_COMM_WORLD: one reduction of two values. */
void bc_contention_row(struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output, int64_t row);

/* Warns on rank 0 if the host of some node took too much of its processors' time since the
   beginning, and closes the file. Collective over MPI_COMM_WORLD. */
void bc_contention_end(struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output);

/* Reads ticks from the first line of /proc/stat. False if the line has another form. Local. */
bool bc_ticks_parse(struct bc_ticks *ticks, const char *line);

#endif
