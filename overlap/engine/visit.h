/*
 * One visit of a row: the four phases for one operation at one size, top to bottom.
 *
 *   phase 1       the reference time: the operation with nothing under it. Then, where it was asked
 *                 for, the number of calls of MPI_Test with the min exposed time
 *   phases 2 to 4 the search: about how much work fits (search.h)
 *   the answer    rounds with a little more work than fits, which say how much does (estimate.h);
 *                 with plenty of work, and the blocking counterpart, which say what is gained; and
 *                 with work that fits, seen not to make the operation longer (kernel.h)
 *
 * The first visit of a row does all of it; later ones, which refine it, measure at the answer only.
 */
#pragma once

#include "overlap/engine/row.h"

/* Measures a row (visit->row, a struct overlap_row) in buffers of its own, within visit->seconds.
   Collective. */
void overlap_measure(struct overlap_state *overlap, struct bc_visit *visit);
