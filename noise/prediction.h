/*
 * What stops cost a program whose ranks synchronise again and again.
 *
 * A step is some work and an operation in which all ranks wait for each other. In a step that takes
 * w when nothing is stopped, all wait for the rank that is stopped the longest. So time is cut into
 * cells of w on a clock that all ranks share, and of each cell the max over ranks of the time in
 * which they were stopped is lost to all. What several ranks are stopped at the same time, as by
 * daemons that begin at a full second, counts once; and a stop that is longer than a step takes up
 * cells as a whole.
 *
 * Sources: Petrini, Kerbyson and Pakin, "The Case of the Missing Supercomputer Performance", SC
 * 2003; traces of noise put together over ranks: Hoefler, Schneider and Lumsdaine, "Characterizing
 * the Influence of System Noise on Large-Scale Applications by Simulation", SC 2010.
 */
#ifndef COMMCOST_NOISE_PREDICTION_H
#define COMMCOST_NOISE_PREDICTION_H

#include "noise/stops.h"

/* Adds to cells[0] .. cells[count - 1] for how many ns stops fell into each: cell i begins at
   begin_ns + i * cell_ns. Stops are those of `stops` from index `from` on. Returns the index of the
   first stop that isn't over when the last cell ends. Local. */
size_t noise_fill_cells(const struct noise_stops *stops, size_t from, double begin_ns,
                        double cell_ns, float *cells, int count);

/* Cells are looked at in parts: all of them, one part after the other, where there are at most
   `max` or they fit into one part; else as many parts as `max` has room for, spread evenly. No cell
   is in two parts. The number of parts; and the number of a part's cells, with its first one.
   Local. */
int noise_cell_parts(double cells, double max);
int noise_cell_part(double cells, double max, int part, double *first);

/* By how many percent of the undisturbed time stops slow down steps that take step_ns[visit], in
   each visit: slowdown_pct[0] .. [visits - 1] on rank 0, NAN where no rank or not all were watched,
   or step_ns isn't above 0. The stops' times are by the clock that ranks share. At most a few
   million cells are looked at, spread over each visit. Collective over MPI_COMM_WORLD, with the
   same number of visits and step_ns on all ranks. */
void noise_predict(const struct noise_stops *stops, const double *step_ns, double *slowdown_pct);

#endif
