/* The columns of the overlap suite. */
#ifndef COMMCOST_OVERLAP_ENGINE_COLUMNS_H
#define COMMCOST_OVERLAP_ENGINE_COLUMNS_H

#include "overlap/engine/measure.h"

/* A time of struct overlap_gain with its interval; a gain may be below 0. */
#define OVERLAP_GAIN_COLUMNS(name, role, member)                                                   \
    BC_COLUMN_AS(BC_CELL_US, name "_us", role, 3, overlap_result, gain.member.value),              \
        BC_COLUMN_AS(BC_CELL_US, name "_lo_us", BC_INFO, 3, overlap_result,                        \
                     gain.member.interval.lo),                                                     \
        BC_COLUMN_AS(BC_CELL_US, name "_hi_us", BC_INFO, 3, overlap_result,                        \
                     gain.member.interval.hi)

/* The columns of a struct that begins with a struct overlap_result. Further keys of a program, each
   followed by a comma, come after test_calls. */
#define OVERLAP_COLUMNS(elements_role, size_role, reference_role, ...)                             \
    {                                                                                              \
        BC_COLUMN("collective", BC_KEY, 0, overlap_result, collective),                            \
            BC_COLUMN("model", BC_KEY, 0, overlap_result, model),                                  \
            BC_COLUMN("form", BC_KEY, 0, overlap_result, form),                                    \
            BC_COLUMN("test_calls", BC_KEY, 0, overlap_result, test_calls),                        \
            __VA_ARGS__ BC_COLUMN("elements", elements_role, 0, overlap_result, elements),         \
            BC_COLUMN_AS(BC_CELL_AMOUNT, "size_bytes", size_role, 1, overlap_result, size_bytes),  \
            BC_COLUMN_AS(BC_CELL_TIME, "ref_us", reference_role, 3, overlap_result,                \
                         reference.value),                                                         \
            BC_COLUMN_AS(BC_CELL_US, "ref_sd_us", BC_INFO, 3, overlap_result, reference_sd_ns),    \
            BC_COLUMN_AS(BC_CELL_TIME, "work_us", BC_INFO, 3, overlap_result, work.value),         \
            BC_COLUMN_AS(BC_CELL_TIME, "total_us", BC_INFO, 3, overlap_result, total.value),       \
            BC_COLUMN("overlap_pct", BC_MORE, 2, overlap_result, overlap_pct),                     \
            BC_COLUMN("overlap_lo_pct", BC_INFO, 2, overlap_result, overlap_lo_pct),               \
            BC_COLUMN("overlap_hi_pct", BC_INFO, 2, overlap_result, overlap_hi_pct),               \
            OVERLAP_GAIN_COLUMNS("blocking", reference_role, blocking),                            \
            OVERLAP_GAIN_COLUMNS("exposed", reference_role, exposed),                              \
            OVERLAP_GAIN_COLUMNS("gain", BC_INFO, gain),                                           \
            BC_COLUMN("gain_pct", BC_INFO, 2, overlap_result, gain.gain_pct.value),                \
            BC_COLUMN("gain_lo_pct", BC_INFO, 2, overlap_result, gain.gain_pct.interval.lo),       \
            BC_COLUMN("gain_hi_pct", BC_INFO, 2, overlap_result, gain.gain_pct.interval.hi),       \
            BC_COLUMN("verdict", BC_INFO, 0, overlap_result, verdict),                             \
            BC_COLUMN("best_test_calls", BC_INFO, 0, overlap_result, best_test_calls),             \
            BC_TIME_RANGE_COLUMNS("ref", 3, overlap_result, reference),                            \
            BC_TIME_RANGE_COLUMNS("work", 3, overlap_result, work),                                \
            BC_TIME_RANGE_COLUMNS("total", 3, overlap_result, total),                              \
            BC_OUTCOME_COLUMNS(overlap_result, outcome),                                           \
    }

#endif
