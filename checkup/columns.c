/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkup/checkup.h"

static const struct bc_column columns[] = {
    BC_COLUMN("rank", BC_KEY, 5, checkup_result, ranks),
    BC_COLUMN("host", BC_INFO, 0, checkup_result, host),
    BC_COLUMN("fact", BC_KEY, 24, checkup_result, fact),
    BC_COLUMN("value", BC_INFO, 30, checkup_result, value),
    BC_COLUMN("value_lo", BC_INFO, 3, checkup_result, interval.lo),
    BC_COLUMN("value_hi", BC_INFO, 3, checkup_result, interval.hi),
    BC_COLUMN("unit", BC_INFO, 8, checkup_result, unit),
    BC_COLUMN("source", BC_INFO, 0, checkup_result, source),
};

const struct bc_table checkup_table = {.columns = columns,
                                       .count = sizeof columns / sizeof *columns,
                                       .main =
                                           "rank,host,fact,value,value_lo,value_hi,unit,source"};
