/*
 * Which sizes are measured, and into how many parts the work under them can be cut.
 */
#pragma once

#include "overlap/engine/row.h"

/* Lowers the default of the largest size to what fits into memory and into MPI's counts; false with
   the error set where the sizes that were asked for don't. Local; rank 0. */
bool overlap_fit_sizes(struct overlap_state *overlap, const struct bc_run *run,
                       struct bc_error *error);

/* All below is collective. */

/* Checks that the work can be cut into as many parts as --test-calls or overlap->parts_option asks
   for: under the quickest of the smallest size, of `count` variants (an array of elements of
   `bytes` bytes, or NULL), or, in the time-driven model, under one that takes the cutoff time.
   Where it can't: if that is the user's choice (`chosen`, on rank 0), false with the error set;
   else a note will say so. */
bool overlap_probe(struct overlap_state *overlap, struct bc_run *run, size_t count,
                   const void *variants, size_t bytes, bool chosen, struct bc_error *error);

/* Says so in a note. */
void overlap_note_fine_cuts(const struct overlap_state *overlap);

/* Lists the rows of all sizes, of each of the variants. The time-driven model looks for the size of
   the first variant. */
void overlap_list_rows(struct overlap_state *overlap, size_t count, const void *variants,
                       size_t bytes);
