/*
 * The overlap suite: the most work that fits under a non-blocking collective
 * without making it take longer.
 *
 * Each collective is a file of its own beside this folder: it says what the
 * collective is and calls overlap_main() from its main(). The method is in
 * this folder:
 *
 *   operation.h   the buffers of one size, and whether the data is right
 *   shapes.h      how much a rank sends and receives, and which values
 *   values.h      the values
 *   parameters.h  options and environment variables
 *   bench.h       what the measurements of a run share
 *   kernel.h      the timed regions
 *   search.h      which amount of work to try next, and when it is enough
 *   trial.h       whether one amount fits
 *   measure.h     one row: the four phases
 *   overlap.c     the whole run, data-driven or time-driven
 */
#ifndef COMMCOST_OVERLAP_ENGINE_OVERLAP_H
#define COMMCOST_OVERLAP_ENGINE_OVERLAP_H

#include "overlap/engine/operation.h"
#include "overlap/engine/shapes.h"
#include "overlap/engine/values.h"

/* Runs the benchmark for one collective; returns the exit status of main(). */
int overlap_main(const struct overlap_collective *collective, int argc, char **argv);

#endif
