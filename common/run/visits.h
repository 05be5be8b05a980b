/*
 * Which row is measured when.
 *
 * What a machine does (its clock rate, its host, its other users) stays the same for seconds, so
 * samples that follow one another tell little about the next launch. Therefore each row is visited
 * several times (--visits). All rows are visited in turn, in another order each time, over at least
 * three seconds; a row's samples are those of all its visits (common/sampling/samples.h). Rows that
 * aren't precise after the planned visits get more while there is time. When a run's budget ends,
 * rows have fewer visits, but at least one.
 *
 * Long runs are divided into groups of rows whose visits take about a minute, so that rows are
 * written at least that often.
 */
#ifndef COMMCOST_COMMON_RUN_VISITS_H
#define COMMCOST_COMMON_RUN_VISITS_H

#include "common/run/run.h"

/* Frees what bc_add_row and bc_next_visit (program.h) have made. Local. */
void bc_visits_free(struct bc_run *run);

#endif
