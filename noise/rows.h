/*
 * The rows that noise makes of what it knows: of the job, of hosts or ranks, of sources and of
 * operations.
 */
#pragma once

#include "noise/state.h"

/* Writes all rows, and frees what the rank has kept. Collective. */
void noise_write_rows(const struct noise *noise, struct noise_row *row);
