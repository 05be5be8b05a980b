/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The samples of a row: rounds of one or more quantities, taken in visits. The rounds of one visit
 * follow one another. All functions are local. If memory runs out, the job ends.
 */
#pragma once

#include "common/run/run.h"
#include "common/stats/stats.h"

#include <stddef.h>

#define BC_QUANTITIES_MAX 17

/* All zeros is an empty store. */
struct bc_samples {
    double *values[BC_QUANTITIES_MAX];
    int *slowest_rank; /* in each round */
    size_t count, capacity;
    size_t *visit_starts; /* the first round of each visit */
    size_t visits, visits_capacity;
    struct bc_samples *dropped; /* missed rounds of the last visit; NULL: none */
};

/* Begins a visit: later rounds belong to it. */
void bc_samples_begin_visit(struct bc_samples *samples);

/* Appends a round of `quantities` values (the same number in each round) to the last visit. */
void bc_samples_append(struct bc_samples *samples, const double *values, int quantities,
                       int slowest_rank);

/* Returns the rounds of one visit (0 to visits - 1), as samples without visits, which lie in
   `samples` and are valid until it changes; don't append to them and don't free them. */
struct bc_samples bc_samples_of_visit(const struct bc_samples *samples, size_t visit);

/* Returns the summary over visits of a quantity minus, round by round, another one (`subtrahend`;
   -1: none), by the settings' estimator and confidence. */
struct bc_summary bc_samples_summary(const struct bc_run *run, const struct bc_samples *samples,
                                     int quantity, int subtrahend);

/* Returns the row's number of samples, BC_OK or BC_BUDGET by `precise`, its slowest rank, and its
   visits. Rank 0. */
struct bc_outcome bc_samples_outcome(const struct bc_run *run, const struct bc_samples *samples,
                                     bool precise);

/* Writes a quantity's samples to the file of --dump-samples, if any, under the number of the next
   row: row, quantity, visit, sample, value. Rank 0. */
void bc_samples_dump(const struct bc_run *run, const char *name, const struct bc_samples *samples,
                     int quantity);

/* Removes all rounds and visits except the dropped rounds; keeps the memory, for the same number of
   quantities. */
void bc_samples_clear(struct bc_samples *samples);

/* Frees the memory and makes `samples` an empty store. */
void bc_samples_free(struct bc_samples *samples);
