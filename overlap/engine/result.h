/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: columns, notes, and rows. */
#pragma once

#include "overlap/engine/row.h"

#define OVERLAP_OWN_KEYS_MAX 2

#define OVERLAP_MAIN_VALUES                                                                        \
    "ref_us,work_us,total_us,overlap_pct,overlap_lo_pct,overlap_hi_pct,verdict,status"

/* Opens the result of a struct that begins with a struct overlap_result. Up to OVERLAP_OWN_KEYS_MAX
   keys of the program follow test_calls. `main` names the main columns; form and test_calls precede
   them if they vary. Call it once per run. */
void overlap_open_result(struct bc_run *run, const struct overlap_state *overlap,
                         const struct bc_column *own_keys, size_t own_count, const char *main);

/* Measures the rate of work, sets overlap->run, and writes notes. Call it after the result is open.
   Collective. */
void overlap_open(struct overlap_state *overlap, struct bc_run *run);

/* Fills in the zeroed result on rank 0, and frees samples of the row. */
void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result);

/* Writes a note on progress, and a warning if the rate of work has changed. Collective. */
void overlap_close(const struct overlap_state *overlap);

/* ---- the MPI library's progress -------------------------------------------------------------- */

/* Min size of messages that show progress: smaller messages are often complete when posted. */
#define OVERLAP_LARGE_BYTES 65536.0

/* Take the times of a row; note the progress in rows of the largest size, if any was large.
   Local. */
void overlap_progress_add(struct overlap_progress *progress, const struct overlap_row *row,
                          const struct overlap_result *result);
void overlap_progress_note(const struct overlap_state *overlap, struct bc_output *output);
