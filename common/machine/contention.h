/*
 * What a rank loses to others that want its processor.
 *
 * A library that polls keeps its rank ready to run all the time, so whatever else
 * runs on the rank's processor keeps the rank waiting for it. Linux counts that
 * wait of each thread (Documentation/scheduler/sched-stats.rst: the second number in
 * /proc/<pid>/schedstat, in ns); where it doesn't, it counts how often the thread
 * was made to leave its processor (getrusage, ru_nivcsw). Only the thread that
 * writes the rows is looked at.
 *
 * A virtual machine's own host may take processors away, too. The kernel can count
 * that only for all processors of a node together and in ticks (proc(5): steal), so
 * it is looked at once, over the whole run.
 *
 * Nothing of this runs in a timed region. In oversubscribed jobs, which have a
 * warning of their own, rows get none.
 */
#ifndef COMMCOST_COMMON_MACHINE_CONTENTION_H
#define COMMCOST_COMMON_MACHINE_CONTENTION_H

#include "common/machine/job.h"
#include "common/result/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row gets a warning if some rank waited a larger share of its time, or, where
   that isn't known, was made to leave its processor more often. Below that the
   median isn't moved; a quiet system's own services take less than 1 %. */
#define BC_WAITED_SHARE_MAX 0.05
#define BC_SWITCHES_PER_S_MAX 25.0

/* No warning for less, unless it is as large a share as BC_WAITED_SHARE_MUCH: a
   service that wakes up now and then is nobody's competitor, even if a short row
   meets it. */
#define BC_WAITED_S_MIN 0.005
#define BC_WAITED_SHARE_MUCH 0.25
#define BC_SWITCHES_MIN 5

/* The same of what the host took from the time in which processors had work. */
#define BC_STOLEN_SHARE_MAX 0.05
#define BC_STOLEN_TICKS_MIN 10

/* The processors' time so far, in ticks. */
struct bc_ticks {
    int64_t stolen, busy; /* busy: all but idle, the stolen included */
};

struct bc_contention {
    int schedstat;               /* a file, or -1 where the kernel doesn't say */
    int64_t waited_ns, switches; /* until the last look */
    double looked_s;             /* when that was, on bc_elapsed_s() */
    struct bc_ticks ticks;       /* at the beginning */
};

/* What a rank lost between two looks, as far as it is worth a warning. */
struct bc_loss {
    double waited_share;   /* of the time, for a processor; 0: too little, or not
                              known */
    double switches_per_s; /* off its processor; 0: too few, or the wait is known */
};

/* Of so many seconds: a wait for a processor (negative: not known), or else so many
   switches off it. Local. */
struct bc_loss bc_loss_of(double seconds, double waited_s, int64_t switches);

/* Begins to count for the calling thread. `schedstat` is the file's path; NULL: the
   kernel's. Local. */
void bc_contention_begin(struct bc_contention *contention, const char *schedstat);

/* What was lost since the last look, or the beginning. Local. */
struct bc_loss bc_contention_look(struct bc_contention *contention);

/* Warns on rank 0 if some rank lost too much since the last row, naming the rank that
   lost most. To be called before row number `row` is written, by the thread that began.
   Collective over MPI_COMM_WORLD: one reduction of two words. */
void bc_contention_row(struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output, int64_t row);

/* Warns on rank 0 if the host of some node took too much of its processors' time since
   the beginning, and closes the file. Collective over MPI_COMM_WORLD. */
void bc_contention_end(struct bc_contention *contention, const struct bc_job *job,
                       struct bc_output *output);

/* Reads the first line of /proc/stat; false if it is none. Local. */
bool bc_ticks_parse(struct bc_ticks *ticks, const char *line);

#endif
