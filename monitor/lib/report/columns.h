/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of reports, and their merging between ranks. */
#pragma once

#include "common/result/output.h"
#include "monitor/lib/mpirtmon.h"

extern const struct bc_table monitor_report_table;

/* The same without the last columns, of the flags site, peers and depth. */
extern const struct bc_table monitor_report_table_without_details;

/* Merging of a column's values on two ranks. The other value replaces NA. */
enum monitor_merge {
    KEPT,
    SUMMED,
    GREATEST,
    LEAST,
    GREATEST_OF_RANK /* with its rank, in the next column: the lowest rank of equal values */
};

/* Sets all cells of a row to NA, texts to "NA". */
void columns_set_na(MPIX_Monitor_row *row);

/* By column of monitor_report_table. */
extern const enum monitor_merge monitor_report_merges[];
