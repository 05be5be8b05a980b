/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict on a gain. */
#pragma once

#include "common/stats/stats.h"

/* Returns the verdict of a gain's interval in percent against a threshold in percent: "pays" (all
   of the interval above the threshold), "loses" (all of it below - threshold), "even" (all of it
   between these), or "not clear"; NULL if there is no interval. Local. */
const char *bc_verdict(const struct bc_summary *gain_pct, double threshold_pct);
