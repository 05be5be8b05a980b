/* The sizes that are measured, and the number of parts into which the work under them is cut. */
#pragma once

#include "overlap/engine/state.h"

/* Lowers the default of the largest size to what fits into memory and into MPI's counts; false with
   the error set where the sizes that were asked for don't. Local; rank 0. */
bool overlap_fit_sizes(struct overlap_state *overlap, const struct bc_run *run,
                       struct bc_error *error);

/* Opens the devices on which --memory puts the buffers and --work the work, before any operation is
   made. Ends the run with exit status 2 where that can't be. Collective. */
void overlap_open_memory(struct overlap_state *overlap, struct bc_run *run);

/* Checks that the work can be cut into as many parts as --test-calls or overlap->parts_option asks
   for: under the quickest of the smallest size, of `count` variants (an array of elements of
   `bytes` bytes, or NULL), or, in the time-driven model, under one that takes the cutoff time.
   Where it can't: if that is the user's choice (`chosen`, on rank 0), false with the error set;
   else a note will say so. */
bool overlap_probe(struct overlap_state *overlap, struct bc_run *run, size_t count,
                   const void *variants, size_t bytes, bool chosen, struct bc_error *error);

/* Says so in a note. Local. */
void overlap_note_fine_cuts(const struct overlap_state *overlap);

/* Finds the size of a time-driven run, with this variant, and does nothing in a data-driven run. If
   no size takes the cutoff time, and no option limits the sizes, the run becomes data-driven,
   with 128, 8,192 and 131,072 elements. Collective; after overlap_probe. */
void overlap_find_size(struct overlap_state *overlap, const struct bc_run *run,
                       const void *variant);

/* Writes notes on the search for the size. Local. */
void overlap_note_size(const struct overlap_state *overlap);

/* Lists the rows of all sizes, of each of the variants. */
void overlap_list_rows(struct overlap_state *overlap, size_t count, const void *variants,
                       size_t bytes);
