/*
 * A result as figures of merit: one line a quantity, which tools that watch performance read with
 * one expression.
 *
 *   syncbench/sync.MPI_barrier/neighbours.1/ranks.2/sync=0.613 us 0.601 0.622
 *
 * The name is the program's, the row's keys that have a value, and the quantity without its unit;
 * blanks, equals signs, colons and slashes in it are underscores. It is the same in every launch on
 * the same hosts, but for keys that a launch finds out. Then come the value, its unit, and the ends
 * of its interval, NA where it has none. Quantities are the columns that are better less or more;
 * one without a value has no line, nor has a row of wrong data.
 */
#ifndef COMMCOST_COMMON_RESULT_METRICS_H
#define COMMCOST_COMMON_RESULT_METRICS_H

#include "common/result/output.h"

/* Writes the lines of a result struct, whose type is the one that the table's columns name. Local.
 */
void bc_metrics_write(FILE *stream, const char *program, const struct bc_table *table,
                      const void *result);

#endif
