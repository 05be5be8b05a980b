/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of the rows, and parts of the work. */
#pragma once

#include "overlap/engine/state.h"

/* Lowers the default of the largest size to the limits of memory and MPI's counts; false with the
   error set if requested sizes exceed them. Local; rank 0. */
bool overlap_fit_sizes(struct overlap_state *overlap, const struct bc_run *run,
                       struct bc_error *error);

/* Opens the devices of --memory and --work, before any operation is made. Ends the run with exit
   status 2 on failure. Collective. */
void overlap_open_memory(struct overlap_state *overlap, struct bc_run *run);

/* Checks that the work can be cut into the parts that --test-calls or overlap->parts_option asks
   for: under the quickest operation of the smallest size, of `count` variants (an array of elements
   of `bytes` bytes, or NULL), or, in the time-driven model, under an operation that takes the
   cutoff time. If it can't, returns false with the error set if the user gave `option` (NULL: in
   any case); otherwise a note follows. */
bool overlap_check_cuts(struct overlap_state *overlap, struct bc_run *run, size_t count,
                        const void *variants, size_t bytes, const char *option,
                        struct bc_error *error);

/* Notes cuts that are too fine. Local. */
void overlap_note_fine_cuts(const struct overlap_state *overlap);

/* Finds the size of a time-driven run with this variant. If no size takes the cutoff time, and no
   option limits the sizes, the run becomes data-driven, with 128, 8,192 and 131,072 elements. Call
   it after overlap_check_cuts. Collective. */
void overlap_find_size(struct overlap_state *overlap, const struct bc_run *run,
                       const void *variant);

/* Notes the search for the size. Local. */
void overlap_note_size(const struct overlap_state *overlap);

/* Lists the rows of all sizes and variants. */
void overlap_list_rows(struct overlap_state *overlap, size_t count, const void *variants,
                       size_t bytes);
