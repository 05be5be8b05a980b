/* The columns of a result. */
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
