/* SPDX-License-Identifier: BSD-3-Clause */
/* A visit of a row. */
#pragma once

#include "overlap/engine/row.h"

/* Measures a row (visit->row, a struct overlap_row) in new buffers, within visit->seconds.
   Collective. */
void overlap_measure(struct overlap_state *overlap, struct bc_visit *visit);
