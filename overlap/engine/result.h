/* The result: its columns, its notes, and a row's line. */
#pragma once

#include "overlap/engine/row.h"

#define OVERLAP_OWN_KEYS_MAX 2

#define OVERLAP_MAIN_VALUES                                                                        \
    "ref_us,work_us,total_us,overlap_pct,overlap_lo_pct,overlap_hi_pct,verdict,status"

/* Opens the result (bc_open_result) of a struct that begins with a struct overlap_result. Up to
   OVERLAP_OWN_KEYS_MAX keys of a program's own come after test_calls. `main` names the main columns
   (struct bc_table); where they vary, form and test_calls come before these. Once a run. */
void overlap_open_result(struct bc_run *run, const struct overlap_state *overlap,
                         const struct bc_column *own_keys, size_t own_count, const char *main);

/* Measures the rate of work, sets overlap->run, and writes notes. Once the result is open.
   Collective. */
void overlap_open(struct overlap_state *overlap, struct bc_run *run);

/* Fills in the result, which begins as zeros, on rank 0, and frees what the row holds. */
void overlap_conclude(struct overlap_state *overlap, struct overlap_row *row,
                      struct overlap_result *result);

/* Writes notes on progress, and if the work's rate has changed. Collective. */
void overlap_close(const struct overlap_state *overlap);

/* ---- the MPI library's progress -------------------------------------------------------------- */

/* Messages of this size and more say who makes progress: smaller ones are often complete when they
   are posted. */
#define OVERLAP_LARGE_BYTES 65536.0

/* Takes in a row whose result has sizes and times; writes what rows of the largest size say as a
   note, nothing where no row was large. Local. */
void overlap_progress_add(struct overlap_progress *progress, const struct overlap_row *row,
                          const struct overlap_result *result);
void overlap_progress_note(const struct overlap_state *overlap, struct bc_output *output);
