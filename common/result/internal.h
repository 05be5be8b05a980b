/* What the files of common/result/ share. All functions are local. */
#ifndef COMMCOST_COMMON_RESULT_INTERNAL_H
#define COMMCOST_COMMON_RESULT_INTERNAL_H

#include "common/result/output.h"

/* Writes a column's value in a result struct to a cell of BC_CELL_LENGTH characters: "NA" where
   there is none. */
void bc_cell_format(char *cell, const struct bc_column *column, const void *result);

/* Writes a result struct, whose type is the one that the table's columns name, as lines of
   BC_FORMAT_METRICS (metrics.c). */
void bc_metrics_write(FILE *stream, const char *program, const struct bc_table *table,
                      const void *result);

#endif
