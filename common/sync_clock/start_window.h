/*
 * Ranks that start together, at a moment on a clock that they share, instead of when a barrier
 * releases them, which it does unevenly. What is timed is then the time from the first start to the
 * last end. This is the header of common/sync_clock for its users.
 *
 * Before each start the ranks agree (one allreduce) on the latest of their proposals: each proposes
 * its own time plus some slack, in which the allreduce has to return. A rank that is late all the
 * same raises its slack, so no rank needs to know how long an operation takes or how fast the
 * network is. Rounds in which a rank was late are taken again: see struct bc_starts in
 * common/run/run.h.
 *
 * Sources: windows on a shared clock: Worsch, Reussner and Augustin, "On Benchmarking Collective
 * MPI Operations", EuroPVM/MPI 2002 (SKaMPI); rounds whose start is agreed on one by one:
 * "Round-Time" of Hunold and Carpen-Amarie, "Hierarchical Clock Synchronization in MPI", CLUSTER
 * 2018. There a root announces each start; here all ranks propose it.
 *
 * A program without windows passes NULL for the window.
 */
#pragma once

#include "common/clock/clock.h"
#include "common/job/job.h"
#include "common/result/output.h"
#include "common/run/run.h"

struct bc_start_window;
struct bc_starter;

/* Returns on all ranks at the same time, where each has a processor; without a window at once. From
   time to time it measures the shared clock again: when its error may have grown by more than a
   tenth of a microsecond. Collective over MPI_COMM_WORLD. */
void bc_start_window_wait(struct bc_start_window *window);

/* The value of `quantity` for a kernel that bc_start_window_wait started and that took from
   start_ns to end_ns on this rank's clock: the time between them on the shared clock. Notes the
   start for the sampler. Without a window just end_ns - start_ns. Local. */
double bc_start_window_time(struct bc_start_window *window, int quantity, int64_t start_ns,
                            int64_t end_ns);

/* The `starts` of a source whose kernel does that; NULL without a window. */
struct bc_starts *bc_start_window_starts(struct bc_start_window *window);

/* For struct bc_program: makes, uses and destroys the window. A program that names it has the
   option --start. */
extern const struct bc_starter bc_window_starter;
