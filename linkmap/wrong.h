/* The links over which wrong data came: only their rows fail, and a warning names them. */
#ifndef COMMCOST_LINKMAP_WRONG_H
#define COMMCOST_LINKMAP_WRONG_H

#include "linkmap/state.h"

/* Brings what is known of each point's wrong data to rank 0's row->wrong. Collective over the
   points. */
void linkmap_gather_wrong(const struct linkmap *state, struct linkmap_row *row);

/* Whether wrong data came over a link of the point, or over any. Rank 0. */
bool linkmap_has_wrong(const struct linkmap_row *row, int point);
bool linkmap_has_any_wrong(const struct linkmap *state, const struct linkmap_row *row);

/* Names the first links over which wrong data came. Rank 0. */
void linkmap_warn_of_wrong(const struct linkmap *state, const struct linkmap_row *row);

#endif
