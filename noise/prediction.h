/*
 * How much stops slow down a program whose ranks synchronise again and again.
 *
 * A step is some work and an operation in which all ranks wait for each other, for the rank that is
 * stopped longest. The time is divided into cells as long as an undisturbed step, on a clock that
 * all ranks share. In each cell all ranks lose the max over ranks of the time in which one was
 * stopped. Stops of several ranks at the same time, as of daemons that run at full seconds, count
 * once, and a stop longer than a step fills whole cells.
 *
 * Sources: Petrini, Kerbyson and Pakin, "The Case of the Missing Supercomputer Performance", SC
 * 2003; traces of noise put together over ranks: Hoefler, Schneider and Lumsdaine, "Characterizing
 * the Influence of System Noise on Large-Scale Applications by Simulation", SC 2010.
 */
#pragma once

#include "noise/rank_stops.h"

/* Adds the ns of stops in each cell to cells[0] .. cells[count - 1]; cell i begins at
   begin_ns + i * cell_ns. Uses the stops from index `from` on. Returns the index of the first stop
   that isn't over when the last cell ends. Local. */
size_t noise_fill_cells(const struct noise_stops *stops, size_t from, double begin_ns,
                        double cell_ns, float *cells, int count);

/* Cells are reduced in parts that don't overlap: all of them if there are at most `max` or they fit
   into one part; otherwise the parts for which `max` has room, spread evenly. The number of parts;
   and the number of cells of a part, with its first one. Local. */
int noise_cell_parts(double cells, double max);
int noise_cell_part(double cells, double max, int part, double *first);

/* By how many percent stops slow down steps that take step_ns[visit] undisturbed, in each visit:
   slowdown_pct[0] .. [visits - 1] on rank 0; NAN if not all ranks were watched, or if step_ns isn't
   above 0. Times of stops are on the clock that ranks share. Uses at most a few million cells,
   spread over each visit. Collective over MPI_COMM_WORLD, with the same number of visits and
   step_ns on all ranks. */
void noise_predict(const struct noise_stops *stops, const double *step_ns, double *slowdown_pct);
