/*
 * Ranks that start together: at a moment that they agree on, by a clock that they
 * share, instead of when they come out of a barrier. What is timed is then the time
 * from the first start to the last end, and free of how unevenly a barrier lets its
 * ranks go.
 *
 * Before each start the ranks agree (one allreduce) on the latest of what each of them
 * proposes: its own time, and some slack for the allreduce to let it go. A rank that
 * comes late all the same raises its slack; so no rank needs to know how long an
 * operation takes, or how fast the network is. Rounds in which a rank was late are taken
 * again: see struct bc_starts in common/stats/sampling.h.
 *
 * Sources: windows on a shared clock: Worsch, Reussner and Augustin, "On Benchmarking
 * Collective MPI Operations", EuroPVM/MPI 2002 (SKaMPI); rounds of which each one's
 * start is agreed on: "Round-Time" of Hunold and Carpen-Amarie, "Hierarchical Clock
 * Synchronization in MPI", CLUSTER 2018. Their rounds come from a root; these don't.
 *
 * A program without windows has a null pointer in place of this.
 */
#ifndef COMMCOST_COMMON_CLOCK_SHARED_START_WINDOW_H
#define COMMCOST_COMMON_CLOCK_SHARED_START_WINDOW_H

#include "common/clock/clock.h"
#include "common/machine/job.h"
#include "common/result/output.h"
#include "common/stats/sampling.h"

#include <stdint.h>

struct bc_start_window;

/* Finds the shared clock, in about so many seconds (bc_global_clock_create). Collective
   over MPI_COMM_WORLD, of which `job` is and which it must outlive; `cost` is the
   clock's, max over ranks. */
struct bc_start_window *bc_start_window_create(const struct bc_job *job,
                                               const struct bc_clock_cost *cost, double seconds);

/* Returns on all ranks at one time, where there is a processor for each. Every now and
   then the shared clock is measured anew in here, when it may be off by more than a
   tenth of a microsecond more than right after it was measured. Collective over
   MPI_COMM_WORLD. */
void bc_start_window_wait(struct bc_start_window *window);

/* What a kernel that was started by bc_start_window_wait returns of a quantity that
   it has timed from start_ns to end_ns: the time in between, on the shared clock, and
   notes the start for the sampler. Without a window just the time in between. Local. */
double bc_start_window_time(struct bc_start_window *window, int quantity, int64_t start_ns,
                            int64_t end_ns);

/* For a source whose kernel does that; NULL without a window. */
struct bc_starts *bc_start_window_starts(struct bc_start_window *window);

/* Writes what clock it is and how well it is known (local), and at the end of a run what
   came of it (collective). Rank 0 has the output, others NULL. */
void bc_start_window_describe(const struct bc_start_window *window, struct bc_output *output);
void bc_start_window_conclude(const struct bc_start_window *window, struct bc_output *output);

/* Collective; NULL is allowed. */
void bc_start_window_destroy(struct bc_start_window *window);

#endif
