/*
 * Result of a row whose rounds time repetitions as quantity 0 and, alternately, those of a
 * counterpart as quantity 1, if there is one.
 */
#pragma once

#include "common/measure/rounds.h"

/* On rank 0. */
struct bc_repetition_result {
    struct bc_summary repetition; /* in ns, without the cost of the clock: the time of the rank that
                                     is slowest in general, or in each round if a round times one
                                     repetition; p99 and max are those of single repetitions */
    struct bc_summary counterpart, gain; /* the counterpart's time, and how much longer it is, in
                                            ns; zeros without a counterpart */
    int64_t repetitions;                 /* in all samples, without the single ones */
    double total_s;                      /* the time of these repetitions */
    struct bc_outcome outcome; /* BC_OK if the precision was reached before the time was up, else
                                  BC_BUDGET */
};

/* Makes the result of all visits, writes the samples of the repetition under the name `quantity` to
   the file of --dump-samples, and frees the store. Quantity 0 alone must be precise. Local. */
void bc_store_conclude(const struct bc_run *run, struct bc_store *store, const char *quantity,
                       struct bc_repetition_result *result);
