/* The rows of a message size: one of the whole, one of each point, and one of each pair. */
#pragma once

#include "linkmap/state.h"

/* Whether the times of the whole are as precise as --precision asks. Rank 0. */
bool linkmap_is_precise(const struct linkmap *linkmap, const struct linkmap_row *row);

/* Writes all rows of a message size, and frees what is kept of it. Collective. */
void linkmap_write_rows(struct linkmap *linkmap, struct linkmap_row *row);
