/* The rows that linkmap makes of what it knows: one of all points, one of each, and of pairs. */
#ifndef COMMCOST_LINKMAP_ROWS_H
#define COMMCOST_LINKMAP_ROWS_H

#include "linkmap/state.h"

enum { LINKMAP_COLUMNS = 21 };
extern const struct bc_column linkmap_columns[LINKMAP_COLUMNS];

/* Writes all rows of a message size, and frees what is kept of it. Collective. */
void linkmap_write_rows(struct linkmap *linkmap, struct linkmap_row *row);

#endif
