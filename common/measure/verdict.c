/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/measure/verdict.h"

#include <math.h>

const char *bc_verdict(const struct bc_summary *gain_pct, double threshold_pct)
{
    const double lo = gain_pct->interval.lo, hi = gain_pct->interval.hi;
    if (isnan(lo) || isnan(hi))
        return NULL;
    if (lo > threshold_pct)
        return "pays";
    if (hi < -threshold_pct)
        return "loses";
    return lo >= -threshold_pct && hi <= threshold_pct ? "even" : "not clear";
}
