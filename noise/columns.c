/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise/noise.h"

#define RANGE_COLUMNS(name, unit, decimals, member)                                                \
    BC_COLUMN(name "_lo_" unit, BC_INFO, decimals, noise_result, member.interval.lo),              \
        BC_COLUMN(name "_hi_" unit, BC_INFO, decimals, noise_result, member.interval.hi)

static const struct bc_column columns[] = {
    BC_COLUMN("scope", BC_KEY, 10, noise_result, scope),
    BC_COLUMN("host", BC_KEY, 0, noise_result, host),
    BC_COLUMN("ranks", BC_KEY, 7, noise_result, ranks),
    BC_COLUMN("source", BC_KEY, 8, noise_result, source),
    BC_COLUMN("about", BC_KEY, 0, noise_result, about),
    BC_COLUMN("operation", BC_KEY, 13, noise_result, operation),
    BC_COLUMN("grain_us", BC_KEY, 0, noise_result, grain_us),
    BC_COLUMN("stops_per_s", BC_LESS, 3, noise_result, stops.per_s.value),
    RANGE_COLUMNS("stops", "per_s", 3, stops.per_s),
    BC_TIME_COLUMNS("stop", BC_LESS, 3, noise_result, stops.length_ns),
    BC_COLUMN("stopped_pct", BC_LESS, 4, noise_result, stops.stopped_pct.value),
    RANGE_COLUMNS("stopped", "pct", 4, stops.stopped_pct),
    BC_COLUMN("period_ms", BC_INFO, 4, noise_result, period_ms),
    BC_COLUMN("period_lo_ms", BC_INFO, 4, noise_result, period_interval_ms.lo),
    BC_COLUMN("period_hi_ms", BC_INFO, 4, noise_result, period_interval_ms.hi),
    BC_TIME_COLUMNS("step", BC_LESS, 3, noise_result, step),
    BC_COLUMN_AS(BC_CELL_TIME, "usual_us", BC_INFO, 3, noise_result, usual_ns),
    BC_COLUMN("slowdown_pct", BC_LESS, 2, noise_result, slowdown_pct.value),
    RANGE_COLUMNS("slowdown", "pct", 2, slowdown_pct),
    BC_COLUMN("predicted_pct", BC_INFO, 2, noise_result, predicted_pct.value),
    RANGE_COLUMNS("predicted", "pct", 2, predicted_pct),
    BC_OUTCOME_COLUMNS(noise_result, outcome),
};

const struct bc_table noise_table = {
    .columns = columns,
    .count = sizeof columns / sizeof *columns,
    .main = "scope,ranks,source,operation,grain_us,stopped_pct,slowdown_pct,status"};
