/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/report/columns.h"

#include <math.h>
#include <string.h>

#define REPORT_COLUMNS(COLUMN)                                                                     \
    COLUMN(kind, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(comm, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(operation, BC_KEY, 0, KEPT)                                                             \
    COLUMN(ranks, BC_KEY, 0, KEPT)                                                                 \
    COLUMN(calls, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(completed, BC_INFO, 0, SUMMED)                                                          \
    COLUMN(timeouts, BC_LESS, 0, SUMMED)                                                           \
    COLUMN(total_s, BC_LESS, 9, SUMMED)                                                            \
    COLUMN(mean_us, BC_INFO, 3, KEPT)                                                              \
    COLUMN(max_us, BC_INFO, 3, GREATEST_OF_RANK)                                                   \
    COLUMN(max_rank, BC_INFO, 0, KEPT)                                                             \
    COLUMN(bytes, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(small, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(large, BC_INFO, 0, SUMMED)                                                              \
    COLUMN(small_per_s, BC_INFO, 3, SUMMED)                                                        \
    COLUMN(large_per_s, BC_INFO, 3, SUMMED)                                                        \
    COLUMN(small_bytes, BC_INFO, 0, SUMMED)                                                        \
    COLUMN(large_bytes, BC_INFO, 0, SUMMED)                                                        \
    COLUMN(members, BC_KEY, 0, KEPT)                                                               \
    COLUMN(rank, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(slowest_s, BC_INFO, 9, GREATEST_OF_RANK)                                                \
    COLUMN(slowest_rank, BC_INFO, 0, KEPT)                                                         \
    COLUMN(in_calls_s, BC_LESS, 9, SUMMED)                                                         \
    COLUMN(computed_s, BC_INFO, 9, SUMMED)                                                         \
    COLUMN(size_bytes, BC_KEY, 0, KEPT)                                                            \
    COLUMN(waited_s, BC_LESS, 9, SUMMED)                                                           \
    COLUMN(waited_lo_s, BC_INFO, 9, SUMMED)                                                        \
    COLUMN(waited_hi_s, BC_INFO, 9, SUMMED)                                                        \
    COLUMN(last_calls, BC_INFO, 0, GREATEST_OF_RANK)                                               \
    COLUMN(last_rank, BC_INFO, 0, KEPT)                                                            \
    COLUMN(callers, BC_INFO, 0, SUMMED)                                                            \
    COLUMN(computed_after_s, BC_INFO, 9, SUMMED)                                                   \
    COLUMN(joinable, BC_INFO, 0, SUMMED)                                                           \
    COLUMN(neighbours, BC_INFO, 0, GREATEST)                                                       \
    COLUMN(least_waited_s, BC_INFO, 9, LEAST)                                                      \
    COLUMN(in_waits_s, BC_INFO, 9, SUMMED)                                                         \
    COLUMN(waited_files_s, BC_INFO, 9, SUMMED)                                                     \
    COLUMN(parallel_eff_pct, BC_MORE, 3, KEPT)                                                     \
    COLUMN(load_balance_pct, BC_MORE, 3, KEPT)                                                     \
    COLUMN(communication_eff_pct, BC_MORE, 3, KEPT)                                                \
    COLUMN(serialisation_eff_pct, BC_MORE, 3, KEPT)                                                \
    COLUMN(transfer_eff_pct, BC_MORE, 3, KEPT)                                                     \
    DETAIL_COLUMNS(COLUMN)

/* Of the flags site, peers and depth. */
#define DETAIL_COLUMNS(COLUMN)                                                                     \
    COLUMN(site, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(peer, BC_KEY, 0, KEPT)                                                                  \
    COLUMN(high, BC_INFO, 0, GREATEST)

#define AS_COLUMN(name, role, decimals, merge)                                                     \
    BC_COLUMN(#name, role, decimals, MPIX_Monitor_row, name),
#define AS_MERGE(name, role, decimals, merge) merge,
static const struct bc_column report_columns[] = {REPORT_COLUMNS(AS_COLUMN)};
const enum monitor_merge monitor_report_merges[] = {REPORT_COLUMNS(AS_MERGE)};

const struct bc_table monitor_report_table = {
    .columns = report_columns,
    .count = sizeof report_columns / sizeof *report_columns,
};

#define ONE(name, role, decimals, merge) +1
const struct bc_table monitor_report_table_without_details = {
    .columns = report_columns,
    .count = sizeof report_columns / sizeof *report_columns - (0 DETAIL_COLUMNS(ONE)),
};

void columns_set_na(MPIX_Monitor_row *row)
{
    for (size_t i = 0; i < monitor_report_table.count; i++) {
        const struct bc_column *const column = &monitor_report_table.columns[i];
        void *const cell = (char *)row + column->at;
        if (column->cell == BC_CELL_INT)
            *(int *)cell = MPIX_MONITOR_NA;
        else if (column->cell == BC_CELL_INTEGER)
            *(int64_t *)cell = MPIX_MONITOR_NA;
        else if (column->cell == BC_CELL_REAL)
            *(double *)cell = NAN;
        else
            strcpy(cell, "NA");
    }
}
