/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start window: ranks start together at a moment of a shared clock, since a barrier releases them
 * unevenly. A sample is then the time from the first start to the last end. This is the header of
 * common/sync_clock for its users.
 *
 * Before each start the ranks agree (one allreduce) on the latest of their proposals: each proposes
 * its own time plus some slack, in which the allreduce has to return. A late rank raises its slack,
 * so no rank needs to know how long an operation takes or how fast the network is. A round in which
 * a rank was late is a miss.
 *
 * Sources: windows on a shared clock: Worsch, Reussner and Augustin, "On Benchmarking Collective
 * MPI Operations", EuroPVM/MPI 2002 (SKaMPI); rounds whose start is agreed on one by one:
 * "Round-Time" of Hunold and Carpen-Amarie, "Hierarchical Clock Synchronization in MPI", CLUSTER
 * 2018. There a root announces each start; here all ranks propose it.
 */
#pragma once

#include "common/clock/clock.h"
#include "common/job/job.h"
#include "common/result/output.h"

struct bc_start_window;

/* Rounds since the window was created or the counts were reset, without the warm-up; on rank 0. */
struct bc_window_counts {
    int64_t rounds, missed;
    int64_t used; /* missed rounds that became samples */
};

/* Measures the shared clock, in about `seconds` (see bc_global_clock_create). `cost` is the
   clock's, maximum over ranks. Collective over MPI_COMM_WORLD, which `job` describes. */
struct bc_start_window *bc_start_window_create(const struct bc_job *job,
                                               const struct bc_clock_cost *cost, double seconds);

/* Frees the window; does nothing with NULL. Collective. */
void bc_start_window_destroy(struct bc_start_window *window);

/* Returns on all ranks at the same time, if each has a processor. From time to time it measures the
   shared clock again: when its error may have grown by more than a tenth of a microsecond.
   Collective over MPI_COMM_WORLD. */
void bc_start_window_wait(struct bc_start_window *window);

/* Returns the time on the shared clock of a span of `ns` on this rank's clock. Local. */
double bc_start_window_ns(const struct bc_start_window *window, double ns);

/* Returns the time from the last agreed start until this rank's clock showed start_ns. Local. */
double bc_start_window_offset_ns(const struct bc_start_window *window, int64_t start_ns);

/* Returns the offset above which a start is late. Local. */
double bc_start_window_late_ns(const struct bc_start_window *window);

/* Returns the counts. Local. */
struct bc_window_counts *bc_start_window_counts(struct bc_start_window *window);

/* Writes the shared clock and its quality to the metadata. Local. */
void bc_start_window_describe(const struct bc_start_window *window, struct bc_output *output);

/* Writes the number of late starts, at the end of a run. Collective; rank 0 has the output. */
void bc_start_window_conclude(const struct bc_start_window *window, struct bc_output *output);
