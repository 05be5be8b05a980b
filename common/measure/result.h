/* SPDX-License-Identifier: BSD-3-Clause */
/* Result of a row. Its rounds time a repetition (quantity 0) and, alternately, its counterpart if
   any (quantity 1). */
#pragma once

#include "common/measure/rounds.h"

/* Significant on rank 0. */
struct bc_repetition_result {
    struct bc_summary repetition;        /* in ns, from bc_store_summary */
    struct bc_summary counterpart, gain; /* in ns: the counterpart's time, and that time minus the
                                            repetition's; zeros if there is no counterpart */
    int64_t repetitions;                 /* in all samples except single repetitions */
    double total_s;                      /* the time of these repetitions */
    struct bc_outcome outcome;           /* BC_OK or BC_BUDGET */
};

/* Makes the result of all visits, writes the samples of the repetition under the name `quantity` to
   the file of --dump-samples, and frees the store. Only quantity 0 must be precise. Local. */
void bc_store_conclude(const struct bc_run *run, struct bc_store *store, const char *quantity,
                       struct bc_repetition_result *result);
