/* Result of a row whose rounds time repetitions as quantity 0 and, alternately, those of a
   counterpart, if there is one, as quantity 1. */
#pragma once

#include "common/measure/rounds.h"

/* On rank 0. */
struct bc_repetition_result {
    struct bc_summary repetition;        /* in ns, of bc_store_summary */
    struct bc_summary counterpart, gain; /* the counterpart's time, and that less the repetition's,
                                            in ns; zeros without a counterpart */
    int64_t repetitions;                 /* in all samples, without the single ones */
    double total_s;                      /* the time of these repetitions */
    struct bc_outcome outcome;           /* BC_OK or BC_BUDGET */
};

/* Makes the result of all visits, writes the samples of the repetition under the name `quantity` to
   the file of --dump-samples, and frees the store. Quantity 0 alone must be precise. Local. */
void bc_store_conclude(const struct bc_run *run, struct bc_store *store, const char *quantity,
                       struct bc_repetition_result *result);
