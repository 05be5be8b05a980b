/* The rows that linkmap makes of what it knows: one of all points, one of each, and of pairs. */
#ifndef COMMCOST_LINKMAP_ROWS_H
#define COMMCOST_LINKMAP_ROWS_H

#include "linkmap/state.h"

enum { LINKMAP_COLUMNS = 21 };
extern const struct bc_column linkmap_columns[LINKMAP_COLUMNS];

/* Members of struct bc_benchmark. */
bool linkmap_is_precise(const void *state, const void *key, const void *row);
void linkmap_conclude(void *state, const void *key, void *row, void *result);
bool linkmap_follow(void *state, const void *key, void *row, void *result);

#endif
