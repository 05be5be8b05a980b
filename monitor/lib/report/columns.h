/* Columns of reports, and how the values of two ranks merge. */
#pragma once

#include "common/result/output.h"

/* Columns of MPIX_Monitor_row. */
extern const struct bc_table monitor_report_table;

/* The merging of a column's values on two ranks. If one of them is NA, the other is taken. */
enum monitor_merge {
    KEPT,
    SUMMED,
    GREATEST,
    LEAST,
    GREATEST_OF_RANK /* with its rank, the next column: of equal ones, the lowest */
};

/* By column of monitor_report_table. */
extern const enum monitor_merge monitor_report_merges[];
