/*
 * The rows that noise makes of what it knows: of the job, of hosts or ranks, of sources and of
 * operations.
 */
#ifndef COMMCOST_NOISE_ROWS_H
#define COMMCOST_NOISE_ROWS_H

#include "noise/state.h"

enum { NOISE_COLUMNS = 38 };
extern const struct bc_column noise_columns[NOISE_COLUMNS];

/* Members of struct bc_benchmark. */
bool noise_is_precise(const void *state, const void *key, const void *row);
void noise_conclude(void *state, const void *key, void *row, void *result);
bool noise_follow(void *state, const void *key, void *row, void *result);

#endif
